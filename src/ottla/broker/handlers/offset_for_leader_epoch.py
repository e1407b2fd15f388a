"""OffsetForLeaderEpoch, versions 2 to 4: the end offset of a leader epoch (KIP-101, KIP-320).

An unknown epoch has no end offset, which is not an error. Errors per partition:
TOPIC_AUTHORIZATION_FAILED without DESCRIBE on the topic or CLUSTER_ACTION,
UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, KAFKA_STORAGE_ERROR, FENCED_LEADER_EPOCH,
UNKNOWN_LEADER_EPOCH.
"""

from __future__ import annotations

from collections.abc import Container

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.refused_topics import unauthorized_topic
from ottla.model import KafkaError
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


@handles(
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    rights=(
        Right(AclOperation.DESCRIBE, ResourceType.TOPIC),
        Right(AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER),
    ),
)
def offset_for_leader_epoch(
    context: RequestContext,
    request: OffsetForLeaderEpochRequest,
    *,
    partitions: Partitions,
) -> OffsetForLeaderEpochResponse:
    topics = []
    refused = _refused(context.rights, request)
    for topic in request.topics:
        answers = []
        for requested in topic.partitions:
            try:
                if topic.topic in refused:
                    raise unauthorized_topic(topic.topic)
                partition = partitions.by_name(topic.topic, requested.partition)
                answers.append(_end_of(partition, requested))
            except KafkaError as error:
                answers.append(EpochEndOffset(partition=requested.partition, error_code=error.code))
        topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=answers))
    return OffsetForLeaderEpochResponse(topics=topics)


def _refused(rights: Rights, request: OffsetForLeaderEpochRequest) -> Container[str]:
    if rights.is_unrestricted or rights.allowed(
        AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, (CLUSTER_NAME,), is_audited=False
    ):
        return ()
    names = {topic.topic for topic in request.topics}
    return names - rights.allowed(AclOperation.DESCRIBE, ResourceType.TOPIC, names)


def _end_of(partition: Partition, requested: OffsetForLeaderPartition) -> EpochEndOffset:
    partition.check_leader_epoch(requested.current_leader_epoch)
    partition.require_leader()
    end = partition.epoch_end(requested.leader_epoch)
    return EpochEndOffset(
        partition=requested.partition, leader_epoch=end.epoch, end_offset=end.end_offset
    )
