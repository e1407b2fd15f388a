"""DeleteShareGroupState, version 0: deletes the state of share partitions (KIP-932).

Sent by group coordinators. A state that does not exist is no error. Errors per partition:
CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST, UNKNOWN_TOPIC_OR_PARTITION, and those of the
coordinator itself.
"""

from __future__ import annotations

from ottla.broker.coordinators.coordinators import Coordinators
from ottla.broker.coordinators.share_state_apis import DELETE, RIGHTS, handle_state_request
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.wire.apis import ApiKey
from ottla.wire.messages.delete_share_group_state import DeleteShareGroupStateRequest
from ottla.wire.schema import Message


@handles(ApiKey.DELETE_SHARE_GROUP_STATE, rights=RIGHTS)
def delete_share_group_state(
    context: RequestContext,
    request: DeleteShareGroupStateRequest,
    *,
    coordinators: Coordinators,
) -> Message | Pending:
    return handle_state_request(DELETE, context, request, coordinators.shares)
