"""The assignors of classic groups, against those of Kafka's Java client: any group, any topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ottla.client.groups.assignors import ASSIGNORS, MemberSubscription
from ottla.model import TopicPartition
from tests.conformance.kafka.process import JudgeProcess, reason_unavailable

pytestmark = pytest.mark.java

TOPICS = ("t0", "t1", "t2")
Assignments = Mapping[str, list[TopicPartition]]
_SETTINGS = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class JavaAssignors:
    def __init__(self) -> None:
        self.process = JudgeProcess(Path(__file__).resolve().parent, "Assignors")

    def assign(
        self, name: str, members: Mapping[str, MemberSubscription], counts: Mapping[str, int]
    ) -> Assignments:
        found = self.process.send_command(
            "assign",
            assignor=name,
            counts=dict(counts),
            members={
                member_id: {
                    "topics": sorted(member.topics),
                    "owned": [list(each) for each in sorted(member.owned)],
                    "generation": member.generation,
                    "instance_id": member.instance_id,
                }
                for member_id, member in members.items()
            },
        )
        return {
            member_id: sorted(TopicPartition(*each) for each in mine)
            for member_id, mine in found.items()
        }


@pytest.fixture(scope="module")
def java_assignors() -> Iterator[JavaAssignors]:
    if reason := reason_unavailable():
        pytest.skip(reason)
    assignors = JavaAssignors()
    yield assignors
    assignors.process.close()


topic_counts = st.fixed_dictionaries({topic: st.integers(0, 7) for topic in TOPICS}).map(
    lambda counts: {topic: count for topic, count in counts.items() if count}
)


@st.composite
def groups(draw: st.DrawFn) -> dict[str, MemberSubscription]:
    """Some of the members are static."""
    members = {}
    for number in range(draw(st.integers(1, 5))):
        topics = frozenset(draw(st.sets(st.sampled_from(TOPICS), min_size=1)))
        instance_id = draw(st.none() | st.just(f"i{draw(st.integers(0, 9))}-{number}"))
        member_id = f"m{draw(st.integers(0, 99))}-{number}"
        members[member_id] = MemberSubscription(topics, instance_id=instance_id)
    return members


@pytest.mark.parametrize("name", ["range", "roundrobin"])
@_SETTINGS
@given(members=groups(), counts=topic_counts)
def test_eager_assignors_agree_with_java(
    java_assignors: JavaAssignors,
    name: str,
    members: dict[str, MemberSubscription],
    counts: dict[str, int],
) -> None:
    ours = {each: sorted(mine) for each, mine in ASSIGNORS[name].assign(members, counts).items()}
    assert ours == java_assignors.assign(name, members, counts)


@_SETTINGS
@given(groups(), topic_counts, st.data())
def test_cooperative_assignments_are_as_balanced_and_as_sticky_as_those_of_java(
    java_assignors: JavaAssignors,
    members: dict[str, MemberSubscription],
    counts: dict[str, int],
    data: st.DataObject,
) -> None:
    """A group settles, then a member leaves or joins, and it settles again."""
    alike = data.draw(st.booleans(), label="same subscriptions")
    if alike:
        topics = next(iter(members.values())).topics
        members = {each: member._replace(topics=topics) for each, member in members.items()}
    settled = settle(members, counts)
    leaver = data.draw(st.sampled_from([None, *settled]), label="leaver")
    changed = {each: member for each, member in settled.items() if each != leaver}
    if leaver is None or not changed:
        changed = settled | {"new": next(iter(settled.values()))._replace(owned=frozenset())}

    ours = settle(changed, counts)
    java = settle(changed, counts, java_assignors)

    assert_complete(ours, counts)
    assert moved(changed, ours) <= moved(changed, java)
    assert spread(ours) <= spread(java)


def settle(
    members: Mapping[str, MemberSubscription],
    counts: Mapping[str, int],
    java: JavaAssignors | None = None,
) -> dict[str, MemberSubscription]:
    """Rebalances until nothing changes: at most twice, because what moves is free by then."""
    name = "cooperative-sticky"
    now = dict(members)
    for generation in range(1, 4):
        assign = ASSIGNORS[name].assign
        found = java.assign(name, now, counts) if java else assign(now, counts)
        assert_nothing_has_two_owners(found, now)
        following = {
            each: member._replace(owned=frozenset(found[each]), generation=generation)
            for each, member in now.items()
        }
        if {each: member.owned for each, member in now.items()} == {
            each: member.owned for each, member in following.items()
        }:
            return following
        now = following
    return now


def assert_nothing_has_two_owners(
    found: Assignments, before: Mapping[str, MemberSubscription]
) -> None:
    taken = Counter(each for mine in found.values() for each in mine)
    assert all(count == 1 for count in taken.values())
    owner = {each: member_id for member_id, member in before.items() for each in member.owned}
    for member_id, mine in found.items():
        assert all(owner.get(each, member_id) == member_id for each in mine), (
            "a partition was given away before its owner gave it up"
        )


def assert_complete(settled: Mapping[str, MemberSubscription], counts: Mapping[str, int]) -> None:
    read = {topic for member in settled.values() for topic in member.topics}
    assert {each for member in settled.values() for each in member.owned} == {
        TopicPartition(topic, index)
        for topic, count in counts.items()
        if topic in read
        for index in range(count)
    }
    for member in settled.values():
        assert {each.topic for each in member.owned} <= member.topics


def moved(before: Mapping[str, MemberSubscription], after: Mapping[str, MemberSubscription]) -> int:
    return sum(len(member.owned - after[each].owned) for each, member in before.items())


def spread(settled: Mapping[str, MemberSubscription]) -> int:
    return sum(len(member.owned) ** 2 for member in settled.values())


def test_claims_of_an_earlier_generation_do_not_count() -> None:
    """A member that was away still claims what another has got since (KIP-792)."""
    partition = TopicPartition("t0", 0)
    topics = frozenset({"t0"})
    late = MemberSubscription(topics, frozenset({partition}), 3)
    owner = MemberSubscription(topics, frozenset({partition}), 5)
    found = ASSIGNORS["cooperative-sticky"].assign({"a": late, "b": owner}, {"t0": 1})
    assert found == {"a": [], "b": [partition]}
