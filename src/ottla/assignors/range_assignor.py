"""Range: the n-th subscriber of a topic gets the n-th range of its partitions.

If topics have the same partition count and subscribers, equal partition numbers go to the same
member, which joins need. Static members come first, ordered by instance id, so that they keep their
ranges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ottla.assignors.assignor import (
    Assignment,
    Steps,
    Subscriber,
    TopicIdPartition,
)
from ottla.model import Uuid


def assign_ranges(
    members: Mapping[str, Subscriber], partition_counts: Mapping[Uuid, int]
) -> Steps[dict[str, Assignment]]:
    subscribers_of: dict[Uuid, list[str]] = defaultdict(list)
    in_order = sorted(members, key=lambda member_id: _order(member_id, members[member_id]))
    yield len(members)
    for member_id in in_order:
        topics = members[member_id].topics
        for topic_id in topics:
            subscribers_of[topic_id].append(member_id)
        yield len(topics)
    assigned: dict[str, list[TopicIdPartition]] = {member_id: [] for member_id in members}
    for topic_id, subscribers in subscribers_of.items():
        least, more = divmod(partition_counts.get(topic_id, 0), len(subscribers))
        start = 0
        for index, member_id in enumerate(subscribers):
            end = start + least + (index < more)
            assigned[member_id] += [
                TopicIdPartition(topic_id, number) for number in range(start, end)
            ]
            yield 1 + end - start
            start = end
    found = {}
    for member_id, partitions in assigned.items():
        found[member_id] = frozenset(partitions)
        yield 1 + len(partitions) // 4
    return found


def _order(member_id: str, member: Subscriber) -> tuple[bool, str]:
    if member.instance_id is not None:
        return (False, member.instance_id)
    return (True, member_id)
