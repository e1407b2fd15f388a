"""Which broker leads which partition, and the requests that are sent to the leaders."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from ottla.cli.backup.partition_copy import PartitionCopy
from ottla.cli.connection.admin_connection import REQUEST_TIMEOUT_S, doing
from ottla.client.cluster import ClientCluster
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

LATEST: Final = -1
EARLIEST: Final = -2
FETCH_BYTES_MAX: Final = 16 << 20
PARTITION_BYTES_MAX: Final = 4 << 20
_WAIT_MS: Final = 100
_CLIENT: Final = -1

# The partition has no leader at the moment, or another one, or was deleted.
RETRIABLE: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)


class Leaders(NamedTuple):
    """The nodes that lead partitions."""

    nodes: Mapping[TopicPartition, int]

    def by_node(self, partitions: Iterable[TopicPartition]) -> dict[int, list[TopicPartition]]:
        """Without the partitions that have no leader."""
        found: dict[int, list[TopicPartition]] = {}
        for each in partitions:
            node_id = self.nodes.get(each)
            if node_id is not None:
                found.setdefault(node_id, []).append(each)
        return found


async def find_leaders(cluster: ClientCluster) -> Leaders:
    """Raises CommandError."""
    deadline = cluster.clock.monotonic() + REQUEST_TIMEOUT_S
    with doing("find the leaders of partitions"):
        metadata = await cluster.retrying(
            "metadata", lambda: cluster.refresh(None), deadline=deadline
        )
    return Leaders(
        {
            TopicPartition(topic.name, partition.partition): partition.leader.node_id
            for topic in metadata.topics.values()
            for partition in topic.partitions
            if partition.leader is not None and partition.leader.node_id in metadata.nodes
        }
    )


def offsets_request(partitions: Collection[TopicPartition], timestamp: int) -> ListOffsetsRequest:
    topics: dict[str, ListOffsetsTopic] = {}
    for topic, index in partitions:
        found = topics.setdefault(topic, ListOffsetsTopic(name=topic, partitions=[]))
        found.partitions.append(ListOffsetsPartition(partition_index=index, timestamp=timestamp))
    return ListOffsetsRequest(replica_id=_CLIENT, topics=list(topics.values()))


def epochs_request(copies: Mapping[TopicPartition, PartitionCopy]) -> OffsetForLeaderEpochRequest:
    """For the ends of the epochs of the last copied batches."""
    topics: dict[str, OffsetForLeaderTopic] = {}
    for (topic, index), copy in copies.items():
        found = topics.setdefault(topic, OffsetForLeaderTopic(topic=topic, partitions=[]))
        found.partitions.append(
            OffsetForLeaderPartition(partition=index, leader_epoch=copy.leader_epoch)
        )
    return OffsetForLeaderEpochRequest(replica_id=_CLIENT, topics=list(topics.values()))


def fetch_request(copies: Mapping[TopicPartition, PartitionCopy]) -> FetchRequest:
    """As a consumer that reads uncommitted records too."""
    topics: dict[str, FetchTopic] = {}
    for (topic, index), copy in copies.items():
        assert copy.position is not None
        found = topics.setdefault(
            topic, FetchTopic(topic=topic, topic_id=copy.topic_id, partitions=[])
        )
        found.partitions.append(
            FetchPartition(
                partition=index,
                fetch_offset=copy.position,
                partition_max_bytes=PARTITION_BYTES_MAX,
            )
        )
    return FetchRequest(
        max_wait_ms=_WAIT_MS,
        min_bytes=1,
        max_bytes=FETCH_BYTES_MAX,
        topics=list(topics.values()),
    )
