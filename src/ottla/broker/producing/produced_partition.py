"""Finds the partition for a batch of a Produce request."""

from __future__ import annotations

from typing import Final

from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import is_writable_by_clients
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.wire.messages.produce import TopicProduceData

# From this version on requests identify topics by id.
TOPIC_ID_VERSION: Final = 13


def produced_partition(
    partitions: Partitions, version: int, topic: TopicProduceData, index: int
) -> Partition:
    """Raises UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION or NOT_LEADER_OR_FOLLOWER if this node
    has no such partition, and INVALID_TOPIC_EXCEPTION for an internal topic."""
    if version >= TOPIC_ID_VERSION:
        partition = partitions.by_id(topic.topic_id, index)
        _require_writable(partition.name.topic)
        return partition
    _require_writable(topic.name)
    return partitions.by_name(topic.name, index)


def _require_writable(name: str) -> None:
    """Rejects internal topics for all clients. Kafka makes an exception for the client id
    `__admin_client`, which any client can use."""
    if not is_writable_by_clients(name):
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {name}"
        )
