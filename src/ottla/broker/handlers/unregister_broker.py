"""UnregisterBroker, version 0: removes the registration of a broker (KIP-500).

Errors: BROKER_ID_NOT_REGISTERED if there is none, REQUEST_TIMED_OUT if no controller responds or
the outcome is unknown.
"""

from __future__ import annotations

from collections.abc import Awaitable

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.forwarding import forward
from ottla.broker.network.handling import RequestContext, handles
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse


@handles(ApiKey.UNREGISTER_BROKER, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
def unregister_broker(
    context: RequestContext, request: UnregisterBrokerRequest, *, controller: ActiveController
) -> Awaitable[UnregisterBrokerResponse]:
    return forward(controller, request, context.api_version, context.rights)
