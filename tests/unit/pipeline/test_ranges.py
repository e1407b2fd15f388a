"""How a batch is shared among tasks, and how much of what is there a trigger takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ottla.model import TopicPartition
from ottla.pipeline.reading.ranges import OffsetRange, limit, split

ORDERS = [TopicPartition("orders", number) for number in range(4)]


def whole(*sizes: int) -> list[OffsetRange]:
    return [OffsetRange(ORDERS[index], 10, 10 + size) for index, size in enumerate(sizes)]


def test_each_partition_is_a_task_and_empty_ones_are_none() -> None:
    assert split(whole(5, 0, 7), partitions_min=None, records_max=None) == [
        OffsetRange(ORDERS[0], 10, 15),
        OffsetRange(ORDERS[2], 10, 17),
    ]


def test_large_partitions_are_cut_into_more_tasks() -> None:
    pieces = split(whole(900, 100), partitions_min=10, records_max=None)
    assert [piece.partition.partition for piece in pieces] == [0] * 9 + [1]
    assert {piece.size for piece in pieces} == {100}


def test_no_task_reads_more_than_it_may() -> None:
    pieces = split(whole(1_001, 30), partitions_min=None, records_max=100)
    assert max(piece.size for piece in pieces) <= 100
    assert len(pieces) == 12


@given(
    st.lists(st.integers(0, 5_000), min_size=1, max_size=4),
    st.none() | st.integers(1, 50),
    st.none() | st.integers(1, 3_000),
)
def test_the_pieces_are_the_whole(
    sizes: list[int], partitions_min: int | None, records_max: int | None
) -> None:
    pieces = split(whole(*sizes), partitions_min=partitions_min, records_max=records_max)
    at = dict.fromkeys(ORDERS, 10)
    for piece in pieces:
        assert piece.start == at[piece.partition]
        assert piece.size > 0
        at[piece.partition] = piece.end
    assert [at[ORDERS[index]] for index in range(len(sizes))] == [10 + size for size in sizes]


def test_a_trigger_takes_its_share_of_each_partition() -> None:
    start = dict.fromkeys(ORDERS[:3], 100)
    end = {ORDERS[0]: 1_100, ORDERS[1]: 100, ORDERS[2]: 3_100}
    assert limit(start, end, records_max=300) == {ORDERS[0]: 175, ORDERS[1]: 100, ORDERS[2]: 325}


def test_a_trigger_takes_everything_if_that_is_little() -> None:
    assert limit({ORDERS[0]: 5}, {ORDERS[0]: 9}, records_max=4) == {ORDERS[0]: 9}


def test_no_partition_starves_beside_a_large_one() -> None:
    start = dict.fromkeys(ORDERS[:2], 0)
    limited = limit(start, {ORDERS[0]: 1, ORDERS[1]: 1_000_000}, records_max=10)
    assert limited[ORDERS[0]] == 1
