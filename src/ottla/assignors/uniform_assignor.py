"""Uniform: members get equal numbers of partitions, as far as their subscriptions allow, and as few
partitions as possible move.

First, each member keeps its partitions of topics that it still subscribes to. Then each unassigned
partition goes to the subscriber with the fewest partitions, topics with few subscribers first.
Last, partitions move one at a time from a member to another that has at least two fewer, until none
can move. This ends, because every move brings the counts closer together.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.assignors.assignor import (
    Assignment,
    Steps,
    Subscriber,
    TopicIdPartition,
)
from ottla.assignors.balance import Balance
from ottla.model import Uuid

_PARTITIONS_AT_ONCE = 500


def assign_uniformly(
    members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
) -> Steps[dict[str, Assignment]]:
    if not members:
        return {}
    kinds = {member.topics for member in members.values()}
    yield len(members) // 4
    everything = yield from _partitions(frozenset().union(*kinds), partition_counts)
    if len(kinds) == 1:
        return (yield from _assign_alike(members, everything))
    return (yield from Balance(members, everything).settle())


def _partitions(
    topics: frozenset[Uuid], partition_counts: Mapping[Uuid, int]
) -> Steps[list[TopicIdPartition]]:
    everything: list[TopicIdPartition] = []
    for topic_id in sorted(topics):
        count = partition_counts.get(topic_id, 0)
        for start in range(0, count, _PARTITIONS_AT_ONCE):
            numbers = range(start, min(start + _PARTITIONS_AT_ONCE, count))
            everything += [TopicIdPartition(topic_id, number) for number in numbers]
            yield len(numbers) // 2
    return everything


def _assign_alike(
    members: Mapping[str, Subscriber], everything: list[TopicIdPartition]
) -> Steps[dict[str, Assignment]]:
    """All members have the same subscription, so each has a fixed quota."""
    least, more = divmod(len(everything), len(members))
    unassigned = set(everything)
    yield len(everything) // 10
    kept: dict[str, list[TopicIdPartition]] = {}
    # The members with most partitions get the larger quotas, so that fewer partitions move.
    by_size = sorted(members, key=lambda member_id: -len(members[member_id].assigned))
    yield len(members) // 2
    quotas = {member_id: least + (index < more) for index, member_id in enumerate(by_size)}
    for member_id in members:
        had = members[member_id].assigned
        mine = sorted(had & unassigned)[: quotas[member_id]]
        unassigned.difference_update(mine)
        kept[member_id] = mine
        yield 1 + len(had) // 2
    free = iter([partition for partition in everything if partition in unassigned])
    yield len(everything) // 5
    assigned = {}
    for member_id, mine in kept.items():
        while len(mine) < quotas[member_id]:
            mine.append(next(free))
        assigned[member_id] = frozenset(mine)
        yield 1 + len(mine) // 4
    return assigned
