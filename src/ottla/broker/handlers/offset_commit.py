"""OffsetCommit, versions 2 to 10: stores the committed offsets of a group.

Version 10 identifies topics by id. Errors per partition: TOPIC_AUTHORIZATION_FAILED,
UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID, OFFSET_METADATA_TOO_LARGE; for all partitions:
GROUP_AUTHORIZATION_FAILED, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION,
STALE_MEMBER_EPOCH, GROUP_ID_NOT_FOUND, REBALANCE_IN_PROGRESS, and those of the coordinator itself.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_requests import take_unknown
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.producing.owner_limits import OwnerLimits
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


_TOPIC_ID_VERSION: Final = 10
_NO_NAMES: Final[AbstractSet[str]] = frozenset()


@handles(
    ApiKey.OFFSET_COMMIT,
    rights=(
        Right(AclOperation.READ, ResourceType.GROUP),
        Right(AclOperation.READ, ResourceType.TOPIC),
    ),
)
def offset_commit(
    context: RequestContext,
    request: OffsetCommitRequest,
    *,
    cluster: ClusterView,
    groups: CoordinatorShards[GroupCoordinator],
    owner_limits: OwnerLimits,
) -> Message | Pending:
    try:
        context.rights.require(AclOperation.READ, ResourceType.GROUP, request.group_id)
        owner_limits.groups.check(context.rights.principal.name, request.group_id)
    except KafkaError as error:
        return OffsetCommitResponse(
            topics=[_refused_whole(topic, error.code) for topic in request.topics]
        )
    accepted, refused = _sort_out(cluster, context, request)
    requested_count = len(request.topics)
    request.topics = accepted
    if requested_count and not accepted:
        return OffsetCommitResponse(topics=refused)

    def refuse(error: KafkaError) -> OffsetCommitResponse:
        indexes = [[each.partition_index for each in topic.partitions] for topic in accepted]
        return OffsetCommitResponse(
            topics=[
                _refused(topic, these, error.code)
                for topic, these in zip(accepted, indexes, strict=True)
            ]
        )

    pending = Pending()

    def reply(response: OffsetCommitResponse) -> None:
        response.topics += refused
        pending.resolve(response)

    version = context.api_version
    groups.submit(
        request.group_id, lambda groups: groups.commit(request, version=version), reply, refuse
    )
    return pending.answer


def _sort_out(
    cluster: ClusterView, context: RequestContext, request: OffsetCommitRequest
) -> tuple[list[OffsetCommitRequestTopic], list[OffsetCommitResponseTopic]]:
    """The known topics with their names and ids filled in, and the errors of unknown and
    unauthorized ones."""
    topics = cluster.image.topics
    accepted, refused = [], []
    unauthorized = _unauthorized(cluster, context, request)
    for requested in request.topics:
        by_id = context.api_version >= _TOPIC_ID_VERSION
        topic = (
            topics.by_id.get(requested.topic_id) if by_id else topics.by_name.get(requested.name)
        )
        if unauthorized and (requested.name if topic is None else topic.name) in unauthorized:
            refused.append(_refused_whole(requested, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            continue
        if topic is None:
            error = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(_refused_whole(requested, error))
            continue
        requested.name, requested.topic_id = topic.name, topic.id
        unknown = take_unknown(requested, topic.partitions)
        if unknown:
            refused.append(_refused(requested, unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        if requested.partitions:
            accepted.append(requested)
    return accepted, refused


def _unauthorized(
    cluster: ClusterView, context: RequestContext, request: OffsetCommitRequest
) -> AbstractSet[str]:
    rights = context.rights
    if rights.is_unrestricted:
        return _NO_NAMES
    names = {topic.name for topic in request.topics}
    if context.api_version >= _TOPIC_ID_VERSION:
        by_id = cluster.image.topics.by_id
        known = (by_id.get(topic.topic_id) for topic in request.topics)
        names = {topic.name for topic in known if topic is not None}
    return names - rights.allowed(AclOperation.READ, ResourceType.TOPIC, names)


def _refused_whole(topic: OffsetCommitRequestTopic, error: ErrorCode) -> OffsetCommitResponseTopic:
    return _refused(topic, [each.partition_index for each in topic.partitions], error)


def _refused(
    topic: OffsetCommitRequestTopic, indexes: list[int], error: ErrorCode
) -> OffsetCommitResponseTopic:
    return OffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            OffsetCommitResponsePartition(partition_index=index, error_code=error)
            for index in indexes
        ],
    )
