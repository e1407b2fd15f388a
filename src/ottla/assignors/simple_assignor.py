"""Assigns partitions to the members of a share group, as Kafka's SimpleAssignor does.

Members share partitions. With more partitions than members, each partition has one member; with
fewer, each member has one partition, and partitions have about equally many members. Current
assignments are kept where that is possible.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ottla.assignors.assignor import Assignment, Subscriber, TopicIdPartition
from ottla.model import Uuid


def assign_shared(
    members: Mapping[str, Subscriber], assignable: Mapping[Uuid, frozenset[int]]
) -> dict[str, Assignment]:
    """The assignment of each member. `assignable` has the partitions of each topic that can be
    assigned: their state is initialized."""
    assigned: dict[str, set[TopicIdPartition]] = {member: set() for member in members}
    by_topics: dict[frozenset[Uuid], list[str]] = defaultdict(list)
    for member, subscriber in members.items():
        by_topics[subscriber.topics].append(member)
    if len(by_topics) == 1:
        ((topics, names),) = by_topics.items()
        _assign_equally(members, names, _targets(topics, assignable), assigned)
    else:
        # Members with different subscriptions share each topic separately.
        for topic_id in sorted(assignable):
            names = [name for name, member in members.items() if topic_id in member.topics]
            _assign_equally(members, names, _targets({topic_id}, assignable), assigned)
    return {member: frozenset(partitions) for member, partitions in assigned.items()}


def _targets(
    topics: frozenset[Uuid] | set[Uuid], assignable: Mapping[Uuid, frozenset[int]]
) -> list[TopicIdPartition]:
    return [
        TopicIdPartition(topic_id, number)
        for topic_id in sorted(topics)
        for number in sorted(assignable.get(topic_id, ()))
    ]


def _assign_equally(
    members: Mapping[str, Subscriber],
    names: list[str],
    targets: list[TopicIdPartition],
    assigned: dict[str, set[TopicIdPartition]],
) -> None:
    if not names or not targets:
        return
    # How many members a partition has, at most; how many partitions each member gets.
    sharing = -(-len(names) // len(targets))
    total = sharing * len(targets)
    wanted = {
        name: -(-total * (index + 1) // len(names)) + (total * index // -len(names))
        for index, name in enumerate(names)
    }
    holders = dict.fromkeys(targets, 0)
    given: dict[str, set[TopicIdPartition]] = {}
    for name in names:
        kept = given[name] = set[TopicIdPartition]()
        for partition in sorted(members[name].assigned & holders.keys()):
            if len(kept) < wanted[name] and holders[partition] < sharing:
                kept.add(partition)
                holders[partition] += 1
    unfilled = [name for name in names if len(given[name]) < wanted[name]]
    for partition, count in holders.items():
        for name in list(unfilled):
            if count >= sharing:
                break
            if partition in given[name]:
                continue
            given[name].add(partition)
            count += 1
            unfilled.remove(name)
            if len(given[name]) < wanted[name]:
                unfilled.append(name)
        holders[partition] = count
    for name in names:
        assigned[name] |= given[name]
