"""UpdateFeatures, versions 0 to 2: changes the finalized levels of features (KIP-584).

Errors are those of the controller's operation, or KAFKA_STORAGE_ERROR if its disk fails.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse


@handles(ApiKey.UPDATE_FEATURES)
async def update_features(
    context: RequestContext,
    request: UpdateFeaturesRequest,
    *,
    controller: ActiveController,
) -> UpdateFeaturesResponse:
    try:
        response: UpdateFeaturesResponse = await controller.forward(request, context.api_version)
    except KafkaError as error:
        return UpdateFeaturesResponse(error_code=error.code, error_message=error.message)
    return response
