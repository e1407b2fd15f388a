"""UpdateFeatures, versions 0 to 2: changes the finalized levels of features (KIP-584).

Errors are those of the controller's operation, or KAFKA_STORAGE_ERROR if its disk fails.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse


@handles(ApiKey.UPDATE_FEATURES, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
def update_features(
    context: RequestContext, request: UpdateFeaturesRequest, *, controller: ActiveController
) -> Awaitable[UpdateFeaturesResponse]:
    return forward(controller, request, context.api_version, context.rights)
