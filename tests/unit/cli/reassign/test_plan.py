from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.cli.reassign.plan import Assignment, PartitionName, format_plan, parse_plan, propose

KAFKAS = (
    '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[3,1],"log_dirs":["any",'
    '"any"]},{"topic":"t","partition":1,"replicas":[2]}]}'
)


def test_a_plan_of_kafkas_tool_is_read() -> None:
    plan = parse_plan(KAFKAS)
    assert plan == {PartitionName("t", 0): (3, 1), PartitionName("t", 1): (2,)}
    assert parse_plan(format_plan(plan)) == plan


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("replicas", "not valid JSON"),
        ('{"version": 2, "partitions": []}', "version must be 1"),
        ('{"version": 1, "partitions": []}', "no partitions"),
        ('{"partitions": [{"topic": "t", "partition": 0}]}', "lacks"),
        ('{"partitions": [{"topic": "t", "partition": 0, "replicas": ["a"]}]}', "numbers"),
        ('{"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 1]}]}', "twice"),
        (
            '{"partitions": [{"topic": "t", "partition": 0, "replicas": [1]},'
            '{"topic": "t", "partition": 0, "replicas": [2]}]}',
            "t-0 twice",
        ),
        (
            '{"partitions": [{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": ["/a"]}]}',
            "log directories",
        ),
    ],
)
def test_what_is_no_plan_says_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_plan(text)


def assignment(*replicas: tuple[int, ...]) -> Assignment:
    return {PartitionName("t", index): ids for index, ids in enumerate(replicas)}


def racks(*brokers: int) -> dict[int, str | None]:
    return dict.fromkeys(brokers)


def test_what_is_balanced_stays() -> None:
    current = assignment((1, 2), (2, 3), (3, 1))
    assert propose(current, racks(1, 2, 3), replication_factor=None) == current


def test_a_broker_that_leaves_hands_over_only_what_it_had() -> None:
    current = assignment((1, 2), (2, 3), (3, 1))
    proposed = propose(current, racks(1, 2, 4), replication_factor=None)
    assert set(proposed[PartitionName("t", 0)]) == {1, 2}
    assert all(3 not in replicas for replicas in proposed.values())
    moved = sum(len(set(proposed[name]) - set(current[name])) for name in current)
    assert moved == 2
    assert Counter(replicas[0] for replicas in proposed.values()) == {1: 1, 2: 1, 4: 1}


def test_a_broker_that_joins_gets_its_share() -> None:
    current = assignment(*[(1, 2)] * 6)
    load = Counter(
        broker
        for replicas in propose(current, racks(1, 2, 3), replication_factor=None).values()
        for broker in replicas
    )
    assert load == {1: 4, 2: 4, 3: 4}


def test_replicas_do_not_share_a_rack() -> None:
    where: dict[int, str | None] = {1: "a", 2: "a", 3: "b", 4: "b"}
    proposed = propose(assignment((1, 2), (3, 4)), where, replication_factor=None)
    for replicas in proposed.values():
        assert {where[broker] for broker in replicas} == {"a", "b"}


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_every_plan_has_the_replicas_it_should(data: st.DataObject) -> None:
    old = st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True)
    current = assignment(*map(tuple, data.draw(st.lists(old, min_size=1, max_size=12))))
    brokers = data.draw(st.lists(st.integers(1, 8), min_size=3, max_size=8, unique=True))
    factor = data.draw(st.none() | st.integers(1, 3))
    proposed = propose(current, racks(*brokers), replication_factor=factor)
    assert proposed.keys() == current.keys()
    for name, replicas in proposed.items():
        assert len(replicas) == len(set(replicas)) == (factor or len(current[name]))
        assert set(replicas) <= set(brokers)
    leaders = Counter(replicas[0] for replicas in proposed.values())
    load = Counter(broker for replicas in proposed.values() for broker in replicas)
    assert max(load.values()) - min(load[broker] for broker in brokers) <= 1
    assert sum(leaders.values()) == len(current)
