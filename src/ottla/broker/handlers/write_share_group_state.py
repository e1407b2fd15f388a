"""WriteShareGroupState, versions 0 and 1: changes of the state of share partitions (KIP-932).

Sent by the leaders of the partitions. Errors per partition: CLUSTER_AUTHORIZATION_FAILED,
INVALID_REQUEST also for a partition without a state, FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH,
UNKNOWN_TOPIC_OR_PARTITION, and those of the coordinator itself.
"""

from __future__ import annotations

from ottla.broker.coordinators.coordinators import Coordinators
from ottla.broker.coordinators.share_state_apis import RIGHTS, WRITE, handle_state_request
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.wire.apis import ApiKey
from ottla.wire.messages.write_share_group_state import WriteShareGroupStateRequest
from ottla.wire.schema import Message


@handles(ApiKey.WRITE_SHARE_GROUP_STATE, rights=RIGHTS)
def write_share_group_state(
    context: RequestContext,
    request: WriteShareGroupStateRequest,
    *,
    coordinators: Coordinators,
) -> Message | Pending:
    return handle_state_request(WRITE, context, request, coordinators.shares)
