"""The offsets of all groups of one partition, committed or pending in ongoing transactions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.model import NO_PRODUCER_ID, TopicPartition

# By topic and partition.
GroupOffsets: TypeAlias = dict[str, dict[int, CommittedOffset]]
# The pending offsets of one producer's transaction, by group.
PendingOffsets: TypeAlias = dict[str, dict[TopicPartition, CommittedOffset]]

_NO_OFFSETS: Mapping[str, dict[int, CommittedOffset]] = MappingProxyType({})
_NONE_OPEN: Mapping[TopicPartition, set[int]] = MappingProxyType({})


class Offsets:
    """Changed only by replaying records. Owned by the coordinator of the partition."""

    def __init__(self) -> None:
        self._by_group: dict[str, GroupOffsets] = {}
        self._pending: dict[int, PendingOffsets] = {}
        # By group and partition, the producers with a pending offset.
        self._open: dict[str, dict[TopicPartition, set[int]]] = {}

    @property
    def group_ids(self) -> list[str]:
        """The groups with committed offsets."""
        return list(self._by_group)

    def of_group(self, group_id: str) -> Mapping[str, Mapping[int, CommittedOffset]]:
        return self._by_group.get(group_id, _NO_OFFSETS)

    def get(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        return self._by_group.get(group_id, _NO_OFFSETS).get(topic, {}).get(partition)

    def groups_with(self, topic: str) -> list[str]:
        """The groups with committed or pending offsets in a topic."""
        committed = [group_id for group_id, topics in self._by_group.items() if topic in topics]
        pending = [
            group_id
            for group_id, names in self._open.items()
            if any(name.topic == topic for name in names)
        ]
        return list(dict.fromkeys([*committed, *pending]))

    def has_pending(self, group_id: str) -> bool:
        """Whether an ongoing transaction has offsets of the group."""
        return group_id in self._open

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        return TopicPartition(topic, partition) in self._open.get(group_id, _NONE_OPEN)

    def partitions_of(self, group_id: str) -> Iterator[TopicPartition]:
        """The partitions in which a group has committed or pending offsets."""
        committed = (
            TopicPartition(topic, partition)
            for topic, partitions in self._by_group.get(group_id, _NO_OFFSETS).items()
            for partition in partitions
        )
        return iter(dict.fromkeys([*committed, *self._open.get(group_id, _NONE_OPEN)]))

    # ---- replay

    def put(
        self,
        group_id: str,
        name: TopicPartition,
        committed: CommittedOffset,
        *,
        producer_id: int = NO_PRODUCER_ID,
    ) -> None:
        if producer_id == NO_PRODUCER_ID:
            topics = self._by_group.setdefault(group_id, {})
            topics.setdefault(name.topic, {})[name.partition] = committed
            return
        self._pending.setdefault(producer_id, {}).setdefault(group_id, {})[name] = committed
        self._open.setdefault(group_id, {}).setdefault(name, set()).add(producer_id)

    def remove(self, group_id: str, name: TopicPartition) -> None:
        """Removes the committed offset and all pending offsets of the partition."""
        topics = self._by_group.get(group_id, {})
        if topics.get(name.topic, {}).pop(name.partition, None) is not None:
            if not topics[name.topic]:
                del topics[name.topic]
            if not topics:
                del self._by_group[group_id]
        for producer_id in list(self._open.get(group_id, _NONE_OPEN).get(name, ())):
            del self._pending[producer_id][group_id][name]
            self._close(group_id, name, producer_id)

    def end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        """Commits or drops the producer's pending offsets. They never replace offsets that were
        committed after them."""
        for group_id, offsets in self._pending.pop(producer_id, {}).items():
            for name, committed in offsets.items():
                self._close(group_id, name, producer_id)
                before = self.get(group_id, *name)
                if is_committed and (
                    before is None or before.record_offset < committed.record_offset
                ):
                    self.put(group_id, name, committed)

    def _close(self, group_id: str, name: TopicPartition, producer_id: int) -> None:
        names = self._open[group_id]
        names[name].discard(producer_id)
        if not names[name]:
            del names[name]
        if not names:
            del self._open[group_id]
