"""ElectLeaders, versions 0 to 2: elects preferred leaders, or unclean ones (KIP-460).

Errors per partition are those of the controller's operation.
"""

from __future__ import annotations

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.network.handling import RequestContext, handles
from ottla.model import KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse


@handles(ApiKey.ELECT_LEADERS, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
async def elect_leaders(
    context: RequestContext,
    request: ElectLeadersRequest,
    *,
    controller: ActiveController,
) -> ElectLeadersResponse:
    try:
        response: ElectLeadersResponse = await controller.ask(
            request, context.api_version, rights=context.rights
        )
    except KafkaError as error:
        return ElectLeadersResponse(error_code=error.code)
    return response
