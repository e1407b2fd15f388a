"""ReadShareGroupStateSummary, versions 0 and 1: start offsets of share partitions (KIP-932).

Sent by brokers that describe share groups. A partition without a state has the start offset -1.
Errors per partition: CLUSTER_AUTHORIZATION_FAILED, INVALID_REQUEST, UNKNOWN_TOPIC_OR_PARTITION, and
those of the coordinator itself.
"""

from __future__ import annotations

from ottla.broker.coordinators.coordinators import Coordinators
from ottla.broker.coordinators.share_state_apis import RIGHTS, SUMMARY, handle_state_request
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.wire.apis import ApiKey
from ottla.wire.messages.read_share_group_state_summary import ReadShareGroupStateSummaryRequest
from ottla.wire.schema import Message


@handles(ApiKey.READ_SHARE_GROUP_STATE_SUMMARY, rights=RIGHTS)
def read_share_group_state_summary(
    context: RequestContext,
    request: ReadShareGroupStateSummaryRequest,
    *,
    coordinators: Coordinators,
) -> Message | Pending:
    return handle_state_request(SUMMARY, context, request, coordinators.shares)
