"""ElectLeaders, versions 0 to 2: elects preferred leaders, or unclean ones (KIP-460).

Errors per partition are those of the controller's operation; REQUEST_TIMED_OUT if no controller
responds or the outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse


@handles(ApiKey.ELECT_LEADERS, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
def elect_leaders(
    context: RequestContext, request: ElectLeadersRequest, *, controller: ActiveController
) -> Awaitable[ElectLeadersResponse]:
    return forward(controller, request, context.api_version, context.rights)
