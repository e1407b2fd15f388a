"""ShareAcknowledge, versions 1 and 2: acknowledges records of a share group (KIP-932).

The response is sent when the acknowledgements are stored. Version 2 adds the renewal of locks
(KIP-1222). Errors of the whole request: GROUP_AUTHORIZATION_FAILED, INVALID_REQUEST,
UNSUPPORTED_VERSION without the feature share.version, SHARE_SESSION_NOT_FOUND,
INVALID_SHARE_SESSION_EPOCH. Per partition: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION,
UNKNOWN_TOPIC_ID, NOT_LEADER_OR_FOLLOWER, COORDINATOR_NOT_AVAILABLE, INVALID_RECORD_STATE and
INVALID_REQUEST.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.leader_hints import LeaderHints
from ottla.broker.network.pending import Pending
from ottla.broker.sharing.acknowledging import AcknowledgeResults, acknowledgements_of
from ottla.broker.sharing.offered import check_offered
from ottla.broker.sharing.share_sessions import FINAL_EPOCH, FIRST_EPOCH
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages import share_acknowledge as wire
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.broker.sharing.sharing import Sharing


@handles(
    ApiKey.SHARE_ACKNOWLEDGE,
    rights=(
        Right(AclOperation.READ, ResourceType.GROUP),
        Right(AclOperation.READ, ResourceType.TOPIC),
    ),
)
def share_acknowledge(
    context: RequestContext,
    request: wire.ShareAcknowledgeRequest,
    *,
    cluster: ClusterView,
    sharing: Sharing,
) -> Message | Pending:
    try:
        check_offered(cluster)
        group_id, member_id = request.group_id, request.member_id
        if not group_id or not member_id:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "the group and member ids must be set")
        context.rights.require(AclOperation.READ, ResourceType.GROUP, group_id)
        if request.share_session_epoch == FIRST_EPOCH:
            raise KafkaError(
                ErrorCode.INVALID_SHARE_SESSION_EPOCH,
                "an acknowledgement cannot begin a share session",
            )
        session = sharing.sessions.require(group_id, member_id, request.share_session_epoch)
    except KafkaError as error:
        return wire.ShareAcknowledgeResponse(error_code=error.code, error_message=error.message)
    pending = Pending()

    def finished(results: AcknowledgeResults) -> None:
        if request.share_session_epoch == FINAL_EPOCH:
            sharing.sessions.end(session)
        lock_ms = sharing.deliveries.of(group_id).settings.lock_ms
        pending.resolve(_response(cluster, context, results, lock_ms=lock_ms))

    sharing.acknowledging.acknowledge(
        context,
        group_id,
        member_id,
        acknowledgements_of(request.topics),
        is_renewal=request.is_renew_ack,
        finished=finished,
    )
    return pending.answer


def _response(
    cluster: ClusterView, context: RequestContext, results: AcknowledgeResults, *, lock_ms: int
) -> wire.ShareAcknowledgeResponse:
    hints = LeaderHints(cluster, context.listener, wire.LeaderIdAndEpoch, wire.NodeEndpoint)
    topics: dict[bytes, wire.ShareAcknowledgeTopicResponse] = {}
    for index, error in results.items():
        answer = wire.PartitionData(partition_index=index.partition)
        if error is not None:
            answer.error_code, answer.error_message = error.code, error.message
            leader = hints.of(error.code, TopicPartition("", index.partition), index.topic_id)
            if leader is not None:
                answer.current_leader = leader
        topic = topics.get(index.topic_id)
        if topic is None:
            topic = topics[index.topic_id] = wire.ShareAcknowledgeTopicResponse(
                topic_id=index.topic_id
            )
        topic.partitions.append(answer)
    return wire.ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=lock_ms,
        responses=list(topics.values()),
        node_endpoints=hints.endpoints(),
    )
