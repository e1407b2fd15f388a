"""Where replicas go."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.controller.operations.placement import ReplicaPlacer
from ottla.metadata import BrokerRegistration
from ottla.model import ErrorCode, KafkaError
from ottla.simulation.seams.dice import SeededDice
from tests.support.controller.cluster_images import broker


def registered(
    broker_id: int, *, rack: str | None = None, fenced: bool = False, leaving: bool = False
) -> BrokerRegistration:
    record = broker(broker_id, rack=rack, fenced=fenced, in_controlled_shutdown=leaving)
    return BrokerRegistration.from_record(record)


def placed(
    brokers: list[BrokerRegistration], *, count: int, replication_factor: int, seed: int = 1
) -> list[list[int]]:
    placer = ReplicaPlacer(brokers, SeededDice(seed))
    placer.check(replication_factor)
    return [placer.place(replication_factor) for _ in range(count)]


def test_brokers_share_leaders_and_replicas() -> None:
    brokers = [registered(broker_id) for broker_id in range(6)]
    partitions = placed(brokers, count=600, replication_factor=3)
    leaders = Counter(replicas[0] for replicas in partitions)
    replicas = Counter(replica for replicas in partitions for replica in replicas)
    assert set(leaders.values()) == {100}
    assert min(replicas.values()) > 200
    # Followers of one leader are not always the same two.
    assert len({tuple(replicas) for replicas in partitions if replicas[0] == 0}) > 5


def test_racks_share_the_replicas_of_every_partition() -> None:
    brokers = [registered(broker_id, rack="abc"[broker_id % 3]) for broker_id in range(9)]
    for replicas in placed(brokers, count=100, replication_factor=3):
        assert {replica % 3 for replica in replicas} == {0, 1, 2}


def test_topics_begin_anywhere() -> None:
    brokers = [registered(broker_id) for broker_id in range(5)]
    firsts = {placed(brokers, count=1, replication_factor=1, seed=seed)[0][0] for seed in range(50)}
    assert firsts == set(range(5))


def test_fenced_brokers_come_last_and_never_lead() -> None:
    brokers = [registered(1), registered(2), registered(3, fenced=True)]
    for replicas in placed(brokers, count=20, replication_factor=2):
        assert set(replicas) == {1, 2}
    for replicas in placed(brokers, count=20, replication_factor=3):
        assert replicas[0] != 3
        assert set(replicas) == {1, 2, 3}


def test_brokers_that_are_leaving_get_nothing() -> None:
    brokers = [registered(1), registered(2, leaving=True)]
    assert placed(brokers, count=3, replication_factor=1) == [[1]] * 3


@pytest.mark.parametrize(
    ("brokers", "replication_factor", "message"),
    [
        ([registered(1)], 0, "must be positive"),
        ([registered(1)], 2, "only 1 broker"),
        ([registered(1, fenced=True)], 1, "All brokers are currently fenced"),
        ([], 1, "All brokers are currently fenced"),
    ],
)
def test_placements_that_cannot_be(
    brokers: list[BrokerRegistration], replication_factor: int, message: str
) -> None:
    with pytest.raises(KafkaError, match=message) as refused:
        placed(brokers, count=1, replication_factor=replication_factor)
    assert refused.value.code is ErrorCode.INVALID_REPLICATION_FACTOR


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b", "c"]), st.booleans()), max_size=8),
    st.integers(1, 8),
    st.integers(0, 2**32),
)
def test_every_placement_is_a_placement(
    kinds: list[tuple[str | None, bool]], replication_factor: int, seed: int
) -> None:
    brokers = [
        registered(broker_id, rack=rack, fenced=fenced)
        for broker_id, (rack, fenced) in enumerate(kinds)
    ]
    unfenced = {each.id for each in brokers if not each.fenced}
    try:
        partitions = placed(brokers, count=10, replication_factor=replication_factor, seed=seed)
    except KafkaError:
        assert replication_factor > len(brokers) or not unfenced
        return
    for replicas in partitions:
        assert len(set(replicas)) == len(replicas) == replication_factor
        assert set(replicas) <= {each.id for each in brokers}
        assert replicas[0] in unfenced
        racks = Counter(brokers[replica].rack for replica in replicas)
        room = Counter(each.rack for each in brokers)
        # No rack has two replicas more than another one that had room for one more.
        for rack, count in racks.items():
            for other, size in room.items():
                assert count <= racks[other] + 1 or racks[other] == size, (rack, other)
