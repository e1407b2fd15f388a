"""The offsets of all groups of one partition, committed or within transactions that go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.model import NO_PRODUCER_ID, TopicPartition

# By topic and partition.
GroupOffsets: TypeAlias = dict[str, dict[int, CommittedOffset]]

_NO_OFFSETS: Mapping[str, dict[int, CommittedOffset]] = MappingProxyType({})


class Offsets:
    """Changed only by replaying records. Owned by the coordinator of the partition."""

    def __init__(self) -> None:
        self._by_group: dict[str, GroupOffsets] = {}
        # By producer, what its transaction will commit if it does.
        self._pending: dict[int, dict[str, GroupOffsets]] = {}

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        return self._by_group.get(group_id, _NO_OFFSETS)

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        return self._by_group.get(group_id, _NO_OFFSETS).get(topic, {}).get(partition)

    def groups_with(self, topic: str) -> list[str]:
        """The groups that have offsets in a topic, pending ones too."""
        everywhere = [self._by_group, *self._pending.values()]
        found = (
            group_id
            for by_group in everywhere
            for group_id, topics in by_group.items()
            if topic in topics
        )
        return list(dict.fromkeys(found))

    def has_pending(self, group_id: str) -> bool:
        """Whether a transaction is open that commits offsets of the group."""
        return any(group_id in by_group for by_group in self._pending.values())

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        return any(
            partition in by_group.get(group_id, _NO_OFFSETS).get(topic, {})
            for by_group in self._pending.values()
        )

    def partitions_of(self, group_id: str) -> Iterator[TopicPartition]:
        """Where a group has offsets, pending ones too."""
        everywhere = [self._by_group, *self._pending.values()]
        found = {
            TopicPartition(topic, partition): None
            for by_group in everywhere
            for topic, partitions in by_group.get(group_id, _NO_OFFSETS).items()
            for partition in partitions
        }
        return iter(found)

    # ---- replay

    def put(
        self,
        group_id: str,
        name: TopicPartition,
        committed: CommittedOffset,
        *,
        producer_id: int = NO_PRODUCER_ID,
    ) -> None:
        by_group = self._by_group
        if producer_id != NO_PRODUCER_ID:
            by_group = self._pending.setdefault(producer_id, {})
        by_group.setdefault(group_id, {}).setdefault(name.topic, {})[name.partition] = committed

    def remove(self, group_id: str, name: TopicPartition) -> None:
        """Takes back what is pending there too."""
        for by_group in (self._by_group, *self._pending.values()):
            topics = by_group.get(group_id)
            if topics is None or topics.get(name.topic, {}).pop(name.partition, None) is None:
                continue
            if not topics[name.topic]:
                del topics[name.topic]
            if not topics:
                del by_group[group_id]

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        pending = self._pending.pop(producer_id, {})
        if not is_committed:
            return
        for group_id, topics in pending.items():
            for topic, partitions in topics.items():
                for partition, committed in partitions.items():
                    before = self.get(group_id, topic, partition)
                    if before is None or before.record_offset < committed.record_offset:
                        self.put(group_id, TopicPartition(topic, partition), committed)
