"""The partitions of a node, by name and by topic id."""

from __future__ import annotations

from collections.abc import Iterator

from ottla.model import ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.replication.partition import Partition


class Partitions:
    """Follows the metadata image; owned by the node's loop."""

    __slots__ = ("_by_id", "_by_name", "_topic_ids")

    def __init__(self) -> None:
        self._by_name: dict[tuple[str, int], Partition] = {}
        self._by_id: dict[tuple[Uuid, int], Partition] = {}
        self._topic_ids: dict[Uuid, str] = {}

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: TopicPartition) -> Partition | None:
        return self._by_name.get(name)

    def by_name(self, topic: str, index: int) -> Partition:
        found = self._by_name.get((topic, index))
        if found is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"this node has no partition {topic}-{index}"
            )
        return found

    def by_id(self, topic_id: Uuid, index: int) -> Partition:
        found = self._by_id.get((topic_id, index))
        if found is not None:
            return found
        if topic_id not in self._topic_ids:
            raise KafkaError(
                ErrorCode.UNKNOWN_TOPIC_ID, "no topic has this id; it may have been deleted"
            )
        topic = self._topic_ids[topic_id]
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"this node has no partition {topic}-{index}"
        )

    def add(self, partition: Partition) -> None:
        topic, index = partition.name
        self._by_name[topic, index] = partition
        self._by_id[partition.topic_id, index] = partition
        self._topic_ids[partition.topic_id] = topic

    def remove_topic(self, topic_id: Uuid) -> list[Partition]:
        """Forgets a topic's partitions, and returns them."""
        self._topic_ids.pop(topic_id, None)
        removed = [each for each in self if each.topic_id == topic_id]
        for partition in removed:
            del self._by_name[partition.name]
            del self._by_id[topic_id, partition.name.partition]
        return removed
