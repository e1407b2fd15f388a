"""ElectLeaders, versions 0 to 2: elects preferred leaders, or unclean ones (KIP-460).

Errors per partition are those of the controller's operation; REQUEST_TIMED_OUT if no controller
responds or the outcome is unknown.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse


@handles(ApiKey.ELECT_LEADERS)
async def elect_leaders(
    context: RequestContext,
    request: ElectLeadersRequest,
    *,
    controller: ActiveController,
) -> ElectLeadersResponse:
    try:
        response: ElectLeadersResponse = await controller.ask(request, context.api_version)
    except KafkaError as error:
        return ElectLeadersResponse(error_code=error.code)
    return response
