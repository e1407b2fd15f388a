"""The partitions of a consumer, assigned by hand or by its group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.client.consuming.assigned_partition import AssignedPartition
from ottla.client.errors import IllegalStateError
from ottla.model import TopicPartition


class PartitionAssignment:
    """Partitions that have records in memory are handed out in turn."""

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, AssignedPartition] = {}
        # Those that may have records to hand out, the next one first.
        self._ready: dict[AssignedPartition, None] = {}

    def __iter__(self) -> Iterator[AssignedPartition]:
        return iter(tuple(self._partitions.values()))

    def __len__(self) -> int:
        return len(self._partitions)

    @property
    def names(self) -> frozenset[TopicPartition]:
        return frozenset(self._partitions)

    def get(self, name: TopicPartition) -> AssignedPartition | None:
        return self._partitions.get(name)

    def require(self, name: TopicPartition) -> AssignedPartition:
        found = self._partitions.get(name)
        if found is None:
            raise IllegalStateError(f"{name} is not assigned to this consumer")
        return found

    def is_current(self, partition: AssignedPartition, version: int) -> bool:
        """Whether a response to a request of this version still counts."""
        return self._partitions.get(partition.name) is partition and partition.version == version

    def add(self, names: Iterable[TopicPartition]) -> list[AssignedPartition]:
        added = [AssignedPartition(name) for name in sorted(names) if name not in self._partitions]
        self._partitions.update((each.name, each) for each in added)
        return added

    def remove(self, names: Iterable[TopicPartition]) -> None:
        for name in names:
            removed = self._partitions.pop(name, None)
            if removed is not None:
                self._ready.pop(removed, None)
                removed.drop()

    def note_ready(self, partition: AssignedPartition) -> None:
        self._ready[partition] = None

    def next_ready(self) -> AssignedPartition | None:
        """The next partition with records to hand out. It stays the next one until
        `serve_others`."""
        for partition in tuple(self._ready):
            if not partition.queue:
                del self._ready[partition]
            elif partition.is_deliverable:
                return partition
        return None

    def serve_others(self, partition: AssignedPartition) -> None:
        """Puts a partition behind the others that have records."""
        self._ready.pop(partition, None)
        if partition.queue:
            self._ready[partition] = None
