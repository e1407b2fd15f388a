"""Where a produce request wants its batches."""

from __future__ import annotations

from typing import Final

from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.wire.messages.produce import TopicProduceData

# From this version on topics go by their ids.
_TOPIC_ID_VERSION: Final = 13


def produced_partition(
    partitions: Partitions, version: int, topic: TopicProduceData, index: int
) -> Partition:
    """Raises UNKNOWN_TOPIC_ID or UNKNOWN_TOPIC_OR_PARTITION where this node does not have it."""
    if version >= _TOPIC_ID_VERSION:
        return partitions.by_id(topic.topic_id, index)
    return partitions.by_name(topic.name, index)
