"""Uniform: everybody gets as many as everybody else, as far as what they want allows, and as much
as possible stays where it is.

First everybody keeps what it had and still wants. Then what nobody has goes to whoever has least of
those who want it, partitions that few want first. At last partitions move, one at a time, from
members that have too many to members that have two fewer at least, until none can: every move
brings the counts closer together, so that ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ottla.coordinator.groups.assignors.assignor import Assignment, Subscriber, TopicIdPartition
from ottla.model import Uuid


def assign_uniformly(
    members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
) -> dict[str, Assignment]:
    if len({member.topics for member in members.values()}) <= 1:
        return _assign_alike(members, partition_counts)
    return _Balance(members, partition_counts).settle()


def _assign_alike(
    members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
) -> dict[str, Assignment]:
    """All want the same, so that quotas say it all."""
    everything = _partitions_wanted(members, partition_counts)
    if not members:
        return {}
    least, more = divmod(len(everything), len(members))
    unassigned = set(everything)
    kept: dict[str, list[TopicIdPartition]] = {}
    # Who has most may keep the one that some have more than others.
    by_size = sorted(members, key=lambda member_id: -len(members[member_id].assigned))
    quotas = {member_id: least + (index < more) for index, member_id in enumerate(by_size)}
    for member_id in members:
        mine = sorted(members[member_id].assigned & unassigned)[: quotas[member_id]]
        unassigned.difference_update(mine)
        kept[member_id] = mine
    free = iter([partition for partition in everything if partition in unassigned])
    for member_id, mine in kept.items():
        while len(mine) < quotas[member_id]:
            mine.append(next(free))
    return {member_id: frozenset(mine) for member_id, mine in kept.items()}


def _partitions_wanted(
    members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
) -> list[TopicIdPartition]:
    topics = frozenset().union(*(member.topics for member in members.values()))
    return [
        TopicIdPartition(topic_id, number)
        for topic_id in sorted(topics)
        for number in range(partition_counts.get(topic_id, 0))
    ]


class _Balance:
    """Members that want different things. Made for one assignment."""

    def __init__(
        self, members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
    ) -> None:
        self._partitions = _partitions_wanted(members, partition_counts)
        self._wanting: dict[Uuid, list[str]] = defaultdict(list)
        for member_id in members:
            for topic_id in members[member_id].topics:
                self._wanting[topic_id].append(member_id)
        self._owned: dict[str, set[TopicIdPartition]] = {}
        unassigned = set(self._partitions)
        for member_id, member in members.items():
            mine = {each for each in member.assigned & unassigned if each.topic_id in member.topics}
            unassigned -= mine
            self._owned[member_id] = mine
        self._unassigned = [each for each in self._partitions if each in unassigned]

    def settle(self) -> dict[str, Assignment]:
        self._unassigned.sort(key=lambda each: len(self._wanting[each.topic_id]))
        for partition in self._unassigned:
            self._owned[self._least_of(partition.topic_id)].add(partition)
        self._level()
        return {member_id: frozenset(mine) for member_id, mine in self._owned.items()}

    def _least_of(self, topic_id: Uuid) -> str:
        return min(self._wanting[topic_id], key=lambda member_id: len(self._owned[member_id]))

    def _level(self) -> None:
        has_moved = True
        while has_moved:
            has_moved = False
            for member_id in sorted(self._owned, key=lambda each: -len(self._owned[each])):
                while self._gives_one(member_id):
                    has_moved = True

    def _gives_one(self, member_id: str) -> bool:
        """Moves a partition to a member that has two fewer at least, if there is one."""
        mine = self._owned[member_id]
        for topic_id in sorted({partition.topic_id for partition in mine}):
            least = self._owned[self._least_of(topic_id)]
            if len(least) + 1 < len(mine):
                moved = max(each for each in mine if each.topic_id == topic_id)
                mine.remove(moved)
                least.add(moved)
                return True
        return False
