"""Fetch, versions 4 to 18: reads record batches of partitions, and may wait for new ones.

Consumers read committed records (consumer_fetch.py), followers all records (follower_fetch.py).

Errors of the whole request: FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH. Per partition:
TOPIC_AUTHORIZATION_FAILED (for a replica without CLUSTER_ACTION too), OFFSET_OUT_OF_RANGE,
UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH,
UNKNOWN_LEADER_EPOCH, KAFKA_STORAGE_ERROR.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.fetching.consumer_fetch import ConsumerFetches
from ottla.broker.fetching.fetch_session_cache import FetchSessionCache
from ottla.broker.fetching.follower_fetch import FollowerFetches
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.model import ErrorCode, KafkaError, NodeId
from ottla.replication.partition import FetchingFollower
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

_NO_EPOCH = -1
_INVALID_OFFSET = -1


@handles(
    ApiKey.FETCH,
    rights=(
        Right(AclOperation.READ, ResourceType.TOPIC),
        Right(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER),
    ),
)
def fetch(
    context: RequestContext,
    request: FetchRequest,
    *,
    cluster: ClusterView,
    fetch_sessions: FetchSessionCache,
    consumer_fetches: ConsumerFetches,
    follower_fetches: FollowerFetches,
) -> FetchResponse | Pending:
    state = request.replica_state
    node_id = request.replica_id if state is None else state.replica_id
    if node_id < 0:
        follower, is_registered = None, False
    else:
        if not context.rights.allows(
            AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
        ):
            return _refuse(request)
        follower = FetchingFollower(node_id, _NO_EPOCH if state is None else state.replica_epoch)
        is_registered = _is_registered(cluster, follower)
    try:
        session = fetch_sessions.enter(
            request,
            context.rights.identity,
            follower=NodeId(node_id) if is_registered else None,
        )
    except KafkaError as error:
        return FetchResponse(error_code=error.code)
    if follower is None:
        return consumer_fetches.fetch(context, request, session)
    return follower_fetches.fetch(request, session, follower)


def _refuse(request: FetchRequest) -> FetchResponse:
    """The response to a client that poses as a replica."""
    return FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[
                    PartitionData(
                        partition_index=partition.partition,
                        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
                        high_watermark=_INVALID_OFFSET,
                        records=b"",
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _is_registered(cluster: ClusterView, follower: FetchingFollower) -> bool:
    """Whether the replica id and epoch are those of another broker's current registration. Without
    an authorizer any client can send them."""
    registration = cluster.image.brokers.get(follower.node_id)
    if registration is None or follower.node_id == cluster.node_id:
        return False
    return follower.broker_epoch in (_NO_EPOCH, registration.epoch)
