"""Balances the assignment of members with different subscriptions."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping
from heapq import heapify, heappush, heapreplace

from ottla.assignors.assignor import (
    Assignment,
    Steps,
    Subscriber,
    TopicIdPartition,
)
from ottla.model import Uuid

# A member's partition count when it was put into a heap, and its index.
_Entry = tuple[int, int]


class Balance:
    """Created for one assignment."""

    def __init__(
        self, members: Mapping[str, Subscriber], partitions: list[TopicIdPartition]
    ) -> None:
        self._partitions = partitions
        self._ids = list(members)
        self._members = list(members.values())
        self._counts = [0] * len(members)
        # For each member, its assigned partitions by topic, sorted.
        self._owned: list[dict[Uuid, list[int]]] = [{} for _ in members]
        # For each topic, the subscribed members.
        self._wanting: dict[Uuid, list[int]] = defaultdict(list)
        # For each topic, a heap of its members by partition count. An entry with too low a count is
        # corrected at the top of the heap; when a member's count drops, a new entry is added.
        self._heaps: dict[Uuid, list[_Entry]] = {}

    def settle(self) -> Steps[dict[str, Assignment]]:
        unassigned = yield from self._keep()
        unassigned.sort(key=lambda each: len(self._wanting[each.topic_id]))
        yield len(unassigned)
        for partition in unassigned:
            yield from self._prepare(partition.topic_id)
            self._give(self._least_of(partition.topic_id), partition)
            yield 3
        yield from self._level()
        assigned = {}
        for index, member_id in enumerate(self._ids):
            assigned[member_id] = frozenset(
                TopicIdPartition(topic_id, number)
                for topic_id, numbers in self._owned[index].items()
                for number in numbers
            )
            yield 1 + self._counts[index]
        return assigned

    def _keep(self) -> Steps[list[TopicIdPartition]]:
        """Lets members keep their partitions of topics that they still subscribe to. Returns the
        unassigned partitions."""
        free = set(self._partitions)
        yield len(free) // 10
        for index, member in enumerate(self._members):
            for topic_id in member.topics:
                self._wanting[topic_id].append(index)
            for partition in member.assigned & free:
                if partition.topic_id in member.topics:
                    free.remove(partition)
                    self._give(index, partition)
            yield 1 + len(member.topics) // 4 + len(member.assigned)
        return [each for each in self._partitions if each in free]

    def _give(self, index: int, partition: TopicIdPartition) -> None:
        insort(self._owned[index].setdefault(partition.topic_id, []), partition.partition)
        self._counts[index] += 1

    def _prepare(self, topic_id: Uuid) -> Steps[None]:
        if topic_id in self._heaps:
            return
        heap = [(self._counts[index], index) for index in self._wanting[topic_id]]
        heapify(heap)
        self._heaps[topic_id] = heap
        yield len(heap) // 4

    def _least_of(self, topic_id: Uuid) -> int:
        """The first of the topic's members with the fewest partitions."""
        heap = self._heaps[topic_id]
        while True:
            count, index = heap[0]
            if count == self._counts[index]:
                return index
            heapreplace(heap, (self._counts[index], index))

    def _level(self) -> Steps[None]:
        has_moved = True
        while has_moved:
            has_moved = False
            by_size = sorted(range(len(self._ids)), key=lambda index: -self._counts[index])
            yield len(by_size) // 2
            for index in by_size:
                while (yield from self._gives_one(index)):
                    has_moved = True

    def _gives_one(self, index: int) -> Steps[bool]:
        """Moves one partition to a member that has at least two fewer, if there is one."""
        mine = self._owned[index]
        for topic_id in sorted(mine):
            yield from self._prepare(topic_id)
            least = self._least_of(topic_id)
            yield 2
            if self._counts[least] + 1 < self._counts[index]:
                partition = TopicIdPartition(topic_id, mine[topic_id].pop())
                if not mine[topic_id]:
                    del mine[topic_id]
                self._counts[index] -= 1
                self._give(least, partition)
                yield from self._note_fewer(index)
                return True
        return False

    def _note_fewer(self, index: int) -> Steps[None]:
        for topic_id in self._members[index].topics:
            heap = self._heaps.get(topic_id)
            if heap is not None:
                heappush(heap, (self._counts[index], index))
        yield len(self._members[index].topics)
