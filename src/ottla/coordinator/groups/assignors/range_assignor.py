"""Ranges: the n-th of those who want a topic gets the n-th stretch of its partitions.

Partitions of the same number in topics of the same size go to the same member, which is what joins
need. Static members come first, by their instances, so that they keep their stretches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ottla.coordinator.groups.assignors.assignor import Assignment, Subscriber, TopicIdPartition
from ottla.model import Uuid


def assign_ranges(
    members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
) -> dict[str, Assignment]:
    wanted_by: dict[Uuid, list[str]] = defaultdict(list)
    for member_id in sorted(members, key=lambda member_id: _order(member_id, members[member_id])):
        for topic_id in members[member_id].topics:
            wanted_by[topic_id].append(member_id)
    assigned: dict[str, list[TopicIdPartition]] = {member_id: [] for member_id in members}
    for topic_id, wanting in wanted_by.items():
        least, more = divmod(partition_counts.get(topic_id, 0), len(wanting))
        start = 0
        for index, member_id in enumerate(wanting):
            end = start + least + (index < more)
            assigned[member_id] += [
                TopicIdPartition(topic_id, number) for number in range(start, end)
            ]
            start = end
    return {member_id: frozenset(partitions) for member_id, partitions in assigned.items()}


def _order(member_id: str, member: Subscriber) -> tuple[bool, str]:
    if member.instance_id is not None:
        return (False, member.instance_id)
    return (True, member_id)
