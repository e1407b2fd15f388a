"""Server-side assignors: complete, balanced, and with as little moving as there can be."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.assignors import ASSIGNORS, Subscriber, finish
from ottla.assignors.assignor import Assignment, TopicIdPartition
from ottla.model import Uuid

Members = Mapping[str, Subscriber]
TOPICS = [Uuid(bytes([number]) * 16) for number in range(1, 5)]
A, B, C, D = TOPICS


def assign_uniformly(members: Members, counts: Mapping[Uuid, int]) -> dict[str, Assignment]:
    return finish(ASSIGNORS["uniform"](members, counts))


def assign_ranges(members: Members, counts: Mapping[Uuid, int]) -> dict[str, Assignment]:
    return finish(ASSIGNORS["range"](members, counts))


def partitions(topic_id: Uuid, *numbers: int) -> Assignment:
    return frozenset(TopicIdPartition(topic_id, number) for number in numbers)


@st.composite
def groups(draw: st.DrawFn) -> tuple[dict[str, Subscriber], dict[Uuid, int]]:
    """Members that want some topics, some of which they had, and some of which there are not."""
    counts = {topic: draw(st.integers(0, 8)) for topic in draw(st.sets(st.sampled_from(TOPICS)))}
    everything = [TopicIdPartition(topic, n) for topic in TOPICS for n in range(8)]
    owners = draw(st.lists(st.integers(0, 5), min_size=len(everything), max_size=len(everything)))
    members = {}
    for index in range(draw(st.integers(1, 5))):
        had = frozenset(
            each for each, owner in zip(everything, owners, strict=True) if owner == index
        )
        topics = draw(st.frozensets(st.sampled_from(TOPICS)))
        members[f"m{index}"] = Subscriber(topics, had)
    return members, counts


def assert_complete(
    assigned: Mapping[str, Assignment],
    members: Members,
    counts: Mapping[Uuid, int],
) -> None:
    """Everything wanted has one owner, who wants it."""
    assert assigned.keys() == members.keys()
    given_out = sorted(each for mine in assigned.values() for each in mine)
    wanted = {topic for member in members.values() for topic in member.topics}
    assert given_out == sorted(
        TopicIdPartition(topic, n) for topic in wanted for n in range(counts.get(topic, 0))
    )
    for member_id, mine in assigned.items():
        assert {each.topic_id for each in mine} <= members[member_id].topics


@pytest.mark.parametrize("name", ASSIGNORS)
@given(group=groups())
@settings(max_examples=150, deadline=None)
def test_every_partition_has_one_owner_that_wants_it(
    name: str, group: tuple[dict[str, Subscriber], dict[Uuid, int]]
) -> None:
    members, counts = group
    assert_complete(finish(ASSIGNORS[name](members, counts)), members, counts)


@given(group=groups())
@settings(max_examples=150, deadline=None)
def test_uniform_leaves_no_member_with_two_more_than_another_could_have(
    group: tuple[dict[str, Subscriber], dict[Uuid, int]],
) -> None:
    members, counts = group
    assigned = assign_uniformly(members, counts)
    for mine in assigned.values():
        for other_id, theirs in assigned.items():
            movable = any(each.topic_id in members[other_id].topics for each in mine)
            assert not movable or len(mine) - len(theirs) <= 1


@given(group=groups())
@settings(max_examples=100, deadline=None)
def test_uniform_moves_nothing_when_nothing_has_changed(
    group: tuple[dict[str, Subscriber], dict[Uuid, int]],
) -> None:
    members, counts = group
    once = assign_uniformly(members, counts)
    settled = {
        member_id: Subscriber(member.topics, once[member_id])
        for member_id, member in members.items()
    }
    assert assign_uniformly(settled, counts) == once


def test_uniform_takes_only_what_a_new_member_is_to_have() -> None:
    counts = {A: 10}
    members = {name: Subscriber(frozenset({A})) for name in ("x", "y")}
    before = assign_uniformly(members, counts)
    after = assign_uniformly(
        {name: Subscriber(frozenset({A}), before.get(name, frozenset())) for name in "xyz"}, counts
    )
    assert len(after["z"]) == 3
    assert after["x"] <= before["x"]
    assert after["y"] <= before["y"]


def test_ranges_are_stretches_in_the_order_of_members() -> None:
    members = {name: Subscriber(frozenset({A, B})) for name in ("b", "a")}
    assigned = assign_ranges(members, {A: 5, B: 2})
    assert assigned["a"] == partitions(A, 0, 1, 2) | partitions(B, 0)
    assert assigned["b"] == partitions(A, 3, 4) | partitions(B, 1)


def test_static_members_keep_their_stretches_whatever_their_ids() -> None:
    def assigned(first: str, second: str) -> list[Assignment]:
        members = {
            second: Subscriber(frozenset({A}), instance_id="2"),
            first: Subscriber(frozenset({A}), instance_id="1"),
            "0": Subscriber(frozenset({A})),
        }
        found = assign_ranges(members, {A: 6})
        return [found[first], found[second]]

    assert assigned("a", "b") == assigned("z", "c") == [partitions(A, 0, 1), partitions(A, 2, 3)]
