"""Produce, versions 3 to 13: appends batches to partitions.

A request with acks=0 gets no response; an error closes the connection. With acks=all the response
is sent when all in-sync replicas have the batches. The steps of a request: producing/appending.py.
Errors per partition: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID,
NOT_LEADER_OR_FOLLOWER, INVALID_TOPIC_EXCEPTION for an internal topic, INVALID_REQUIRED_ACKS,
NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR,
TRANSACTIONAL_ID_AUTHORIZATION_FAILED, POLICY_VIOLATION for a topic whose tenant or owner retains
too many bytes,
and those of leader_batch.py, opened_batch.py, producer_state.py and transactional_produce.py. From
version 8 on the response names the invalid records of a rejected batch (KIP-467).
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.producing.appending import Appending
from ottla.broker.producing.owner_limits import OwnerLimits
from ottla.broker.producing.unauthorized_produce import add_refused, take_unauthorized
from ottla.runtime.busy_poll import BusyPoll
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.produce import ProduceRequest
from ottla.wire.schema import Message


@handles(
    ApiKey.PRODUCE,
    rights=(
        Right(AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID),
        Right(AclOperation.WRITE, ResourceType.TOPIC),
    ),
)
def produce(
    context: RequestContext,
    request: ProduceRequest,
    *,
    appending: Appending,
    cluster: ClusterView,
    busy_poll: BusyPoll,
    owner_limits: OwnerLimits,
) -> Message | Pending | None:
    refused = None
    if not context.rights.is_unrestricted:
        refused = take_unauthorized(cluster, context, request)
    if owner_limits.retained_bytes.are_limited:
        refused = [*(refused or ()), *owner_limits.retained_bytes.take_beyond(context, request)]
    if request.transactional_id is None:
        answer = appending.append(context, request)
    else:
        busy_poll.end()
        answer = appending.append_transactional(context, request)
        busy_poll.begin()
    return add_refused(request, answer, refused) if refused else answer
