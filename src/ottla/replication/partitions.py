"""The partitions of a node, by name and by topic id.

A request for a partition that exists only on other nodes gets NOT_LEADER_OR_FOLLOWER, so that the
client looks for the leader. Only a partition that does not exist in the cluster is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ottla.metadata.topic import TopicImage, Topics
from ottla.model import ErrorCode, KafkaError, TopicPartition, Uuid
from ottla.replication.partition import Partition
from ottla.replication.topic_traffic import TopicTraffic


class Partitions:
    """Follows the metadata image; owned by the node's event loop."""

    __slots__ = ("_by_id", "_by_name", "_topics", "_traffic")

    def __init__(self, topics: Callable[[], Topics] = Topics) -> None:
        """`topics` returns the topics of the cluster."""
        self._topics = topics
        self._by_name: dict[tuple[str, int], Partition] = {}
        self._by_id: dict[Uuid, dict[int, Partition]] = {}
        # Of the topics with partitions on this node.
        self._traffic: dict[str, TopicTraffic] = {}

    def __iter__(self) -> Iterator[Partition]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    @property
    def traffic(self) -> list[tuple[str, TopicTraffic]]:
        """The traffic of each topic with a partition on this node."""
        return list(self._traffic.items())

    def get(self, name: TopicPartition) -> Partition | None:
        return self._by_name.get(name)

    def by_name(self, topic: str, index: int) -> Partition:
        found = self._by_name.get((topic, index))
        if found is None:
            raise _not_here(topic, index, self._topics().by_name.get(topic))
        return found

    def by_id(self, topic_id: Uuid, index: int) -> Partition:
        found = self._by_id.get(topic_id, {}).get(index)
        if found is None:
            topic = self._topics().by_id.get(topic_id)
            if topic is None:
                raise KafkaError(
                    ErrorCode.UNKNOWN_TOPIC_ID, "no topic has this id; it may have been deleted"
                )
            raise _not_here(topic.name, index, topic)
        return found

    def add(self, partition: Partition) -> None:
        topic, index = partition.name
        partition.traffic = self._traffic.setdefault(topic, partition.traffic)
        self._by_name[topic, index] = partition
        self._by_id.setdefault(partition.topic_id, {})[index] = partition

    def remove(self, partition: Partition) -> None:
        """Removes a replica that is no longer assigned to this node, and stops it."""
        of_topic = self._by_id[partition.topic_id]
        del of_topic[partition.name.partition], self._by_name[partition.name]
        if not of_topic:
            del self._by_id[partition.topic_id]
            self._traffic.pop(partition.name.topic, None)
        partition.stop()

    def remove_topic(self, topic_id: Uuid) -> list[Partition]:
        """Removes and stops a topic's partitions, and returns them. Waiting fetches are woken."""
        removed = list(self._by_id.pop(topic_id, {}).values())
        for partition in removed:
            del self._by_name[partition.name]
            self._traffic.pop(partition.name.topic, None)
        for partition in removed:
            partition.stop()
        return removed


def _not_here(topic: str, index: int, known: TopicImage | None) -> KafkaError:
    if known is not None and index in known.partitions:
        return KafkaError(
            ErrorCode.NOT_LEADER_OR_FOLLOWER, f"this node has no replica of {topic}-{index}"
        )
    return KafkaError(
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {topic}-{index}"
    )
