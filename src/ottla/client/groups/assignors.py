"""The assignors of the classic protocol, by Kafka's names: the leader of a group runs one of them.

`range` and `cooperative-sticky` are those of the coordinator (ottla.assignors), over names instead
of topic ids. A cooperative assignor first takes a partition from its owner and gives it away in the
next rebalance, so that members keep reading their other partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from ottla.assignors import ASSIGNORS as COORDINATOR_ASSIGNORS
from ottla.assignors import Subscriber, TopicIdPartition, finish
from ottla.model import TopicPartition, Uuid

RANGE: Final = "range"
ROUND_ROBIN: Final = "roundrobin"
COOPERATIVE_STICKY: Final = "cooperative-sticky"
# Also the names of Kafka's classes.
NAMES: Final[Mapping[str, str]] = {
    RANGE: RANGE,
    ROUND_ROBIN: ROUND_ROBIN,
    COOPERATIVE_STICKY: COOPERATIVE_STICKY,
    "org.apache.kafka.clients.consumer.RangeAssignor": RANGE,
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": ROUND_ROBIN,
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": COOPERATIVE_STICKY,
}


class MemberSubscription(NamedTuple):
    """What a member says of itself when it joins. `generation` is that in which it got `owned`."""

    topics: frozenset[str]
    owned: frozenset[TopicPartition] = frozenset()
    generation: int = -1
    instance_id: str | None = None
    rack_id: str | None = None


Members = Mapping[str, MemberSubscription]
PartitionCounts = Mapping[str, int]
Assignments = dict[str, list[TopicPartition]]


def assign_ranges(members: Members, counts: PartitionCounts) -> Assignments:
    """Each topic on its own: the n-th of its members gets the n-th range of partitions."""
    return _assign_as_coordinator("range", members, counts, keeps=False)


def assign_round_robin(members: Members, counts: PartitionCounts) -> Assignments:
    """All partitions of all topics in turn, past members that do not read a topic."""
    in_order = sorted(members, key=lambda member_id: _order(member_id, members[member_id]))
    assigned: Assignments = {member_id: [] for member_id in in_order}
    turn = 0
    for topic in sorted(set().union(*(members[each].topics for each in in_order))):
        for index in range(counts.get(topic, 0)):
            while topic not in members[in_order[turn % len(in_order)]].topics:
                turn += 1
            assigned[in_order[turn % len(in_order)]].append(TopicPartition(topic, index))
            turn += 1
    return assigned


def assign_cooperatively(members: Members, counts: PartitionCounts) -> Assignments:
    """As equal as possible with as few moves as possible; partitions that move are left out until
    their owners have given them up."""
    owned = _undisputed(members, counts)
    wanted = _assign_as_coordinator(
        "uniform",
        {each: member._replace(owned=owned[each]) for each, member in members.items()},
        counts,
        keeps=True,
    )
    owner_of = {each: member_id for member_id, mine in owned.items() for each in mine}
    return {
        member_id: [each for each in mine if owner_of.get(each, member_id) == member_id]
        for member_id, mine in wanted.items()
    }


class ClassicAssignor(NamedTuple):
    name: str
    is_cooperative: bool
    assign: Callable[[Members, PartitionCounts], Assignments]


ASSIGNORS: Final[Mapping[str, ClassicAssignor]] = {
    each.name: each
    for each in (
        ClassicAssignor(RANGE, False, assign_ranges),
        ClassicAssignor(ROUND_ROBIN, False, assign_round_robin),
        ClassicAssignor(COOPERATIVE_STICKY, True, assign_cooperatively),
    )
}


def assignors(value: str | Sequence[str]) -> tuple[ClassicAssignor, ...]:
    """Reads `partition.assignment.strategy`. Raises ValueError."""
    parts = value.split(",") if isinstance(value, str) else list(value)
    known = []
    for part in parts:
        name = NAMES.get(part.strip())
        if name is None:
            raise ValueError(f"{part.strip()!r} is none of {', '.join(ASSIGNORS)}")
        known.append(ASSIGNORS[name])
    if not known:
        raise ValueError(f"name at least one of {', '.join(ASSIGNORS)}")
    return tuple(known)


def _assign_as_coordinator(
    name: str, members: Members, counts: PartitionCounts, *, keeps: bool
) -> Assignments:
    """The coordinator's assignors take topic ids, which any bytes can stand for."""
    subscribers = {
        member_id: Subscriber(
            frozenset(_id(topic) for topic in member.topics if topic in counts),
            frozenset(TopicIdPartition(_id(each.topic), each.partition) for each in member.owned)
            if keeps
            else frozenset(),
            member.instance_id,
        )
        for member_id, member in sorted(members.items())
    }
    by_id = {_id(topic): count for topic, count in counts.items()}
    found = finish(COORDINATOR_ASSIGNORS[name](subscribers, by_id))
    return {
        member_id: [TopicPartition(each.topic_id.decode(), each.partition) for each in sorted(mine)]
        for member_id, mine in found.items()
    }


def _undisputed(members: Members, counts: PartitionCounts) -> dict[str, frozenset[TopicPartition]]:
    """The partitions that members own. Of several that claim one, those with the latest generation
    are right; if that is more than one, none is (KIP-792)."""
    latest: dict[TopicPartition, int] = {}
    for member in members.values():
        for each in member.owned:
            latest[each] = max(latest.get(each, member.generation), member.generation)
    claims = Counter(
        each
        for member in members.values()
        for each in member.owned
        if member.generation == latest[each]
    )
    return {
        member_id: frozenset(
            each
            for each in member.owned
            if claims[each] == 1
            and member.generation == latest[each]
            and each.topic in member.topics
            and each.partition < counts.get(each.topic, 0)
        )
        for member_id, member in members.items()
    }


def _id(topic: str) -> Uuid:
    return Uuid(topic.encode())


def _order(member_id: str, member: MemberSubscription) -> tuple[bool, str]:
    """Static members come first, by their instance ids, so that they keep their place."""
    if member.instance_id is not None:
        return (False, member.instance_id)
    return (True, member_id)
