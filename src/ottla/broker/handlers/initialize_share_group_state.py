"""InitializeShareGroupState, version 0: creates or replaces the state of share partitions.

Sent by group coordinators (KIP-932). Errors per partition: CLUSTER_AUTHORIZATION_FAILED,
INVALID_REQUEST, FENCED_STATE_EPOCH, UNKNOWN_TOPIC_OR_PARTITION, and those of the coordinator.
"""

from __future__ import annotations

from ottla.broker.coordinators.coordinators import Coordinators
from ottla.broker.coordinators.share_state_apis import INITIALIZE, RIGHTS, handle_state_request
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.wire.apis import ApiKey
from ottla.wire.messages.initialize_share_group_state import InitializeShareGroupStateRequest
from ottla.wire.schema import Message


@handles(ApiKey.INITIALIZE_SHARE_GROUP_STATE, rights=RIGHTS)
def initialize_share_group_state(
    context: RequestContext,
    request: InitializeShareGroupStateRequest,
    *,
    coordinators: Coordinators,
) -> Message | Pending:
    return handle_state_request(INITIALIZE, context, request, coordinators.shares)
