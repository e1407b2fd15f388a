"""ReadShareGroupState, version 0: the state of share partitions, for their leader (KIP-932).

Errors per partition: CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST also for a partition without a
state, FENCED_LEADER_EPOCH, UNKNOWN_TOPIC_OR_PARTITION, and those of the coordinator itself.
"""

from __future__ import annotations

from ottla.broker.coordinators.coordinators import Coordinators
from ottla.broker.coordinators.share_state_apis import READ, RIGHTS, handle_state_request
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.wire.apis import ApiKey
from ottla.wire.messages.read_share_group_state import ReadShareGroupStateRequest
from ottla.wire.schema import Message


@handles(ApiKey.READ_SHARE_GROUP_STATE, rights=RIGHTS)
def read_share_group_state(
    context: RequestContext,
    request: ReadShareGroupStateRequest,
    *,
    coordinators: Coordinators,
) -> Message | Pending:
    return handle_state_request(READ, context, request, coordinators.shares)
