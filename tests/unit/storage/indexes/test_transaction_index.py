from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.errors import CorruptIndexError
from ottla.storage.indexes.transaction_index import (
    AbortedTransaction,
    AbortedTransactions,
    TransactionIndex,
)

PATH = "/00000000000000000000.txnindex"

# Three transactions: the first two overlap, the third was open while both were aborted.
FIRST = AbortedTransaction(producer_id=1, first_offset=0, last_offset=10, last_stable_offset=2)
SECOND = AbortedTransaction(producer_id=2, first_offset=2, last_offset=13, last_stable_offset=5)
THIRD = AbortedTransaction(producer_id=3, first_offset=5, last_offset=20, last_stable_offset=21)


def index_with(disk: SimulatedDisk, *transactions: AbortedTransaction) -> TransactionIndex:
    index = TransactionIndex(disk, PATH, start_offset=0)
    for transaction in transactions:
        index.append(transaction)
    return index


def test_no_file_is_made_while_nothing_is_aborted() -> None:
    disk = SimulatedDisk()
    index = index_with(disk)
    assert index.collect(fetch_offset=0, upper_bound_offset=100) == AbortedTransactions([], False)
    index.truncate_to(0)
    index.truncate()
    index.sanity_check()
    index.sync()
    index.close()
    assert disk.list_directory("/") == []


def test_entry_is_version_producer_and_three_offsets() -> None:
    disk = SimulatedDisk()
    index_with(disk, AbortedTransaction(7, 1, 2, 3))
    assert disk.open(PATH).read_at(0, 100).hex() == (
        "00000000000000000007000000000000000100000000000000020000000000000003"
    )


def test_new_file_has_a_durable_name_after_sync() -> None:
    disk = SimulatedDisk()
    index = index_with(disk, FIRST)
    index.sync()
    disk.crash(SeededDice(0))
    assert list(TransactionIndex(disk, PATH, start_offset=0).entries()) == [FIRST]
    assert disk.counters.directory_syncs == 1


def test_reopened_index_continues_where_it_was_closed() -> None:
    disk = SimulatedDisk()
    index_with(disk, FIRST, SECOND).close()
    index = TransactionIndex(disk, PATH, start_offset=0)
    with pytest.raises(AssertionError, match="not in order"):
        index.append(SECOND)
    index.append(THIRD)
    assert list(index.entries()) == [FIRST, SECOND, THIRD]


def test_collect_gives_what_overlaps_the_fetch() -> None:
    index = index_with(SimulatedDisk(), FIRST, SECOND, THIRD)
    assert index.collect(fetch_offset=0, upper_bound_offset=100).transactions == [
        FIRST,
        SECOND,
        THIRD,
    ]
    assert index.collect(fetch_offset=11, upper_bound_offset=100).transactions == [SECOND, THIRD]
    assert index.collect(fetch_offset=0, upper_bound_offset=2).transactions == [FIRST]
    assert index.collect(fetch_offset=21, upper_bound_offset=100).transactions == []


def test_collect_is_complete_once_a_last_stable_offset_reaches_the_upper_bound() -> None:
    index = index_with(SimulatedDisk(), FIRST, SECOND, THIRD)
    assert index.collect(fetch_offset=0, upper_bound_offset=5).is_complete
    assert index.collect(fetch_offset=0, upper_bound_offset=21).is_complete
    assert not index.collect(fetch_offset=0, upper_bound_offset=22).is_complete


def test_truncate_to_drops_markers_at_the_offset_and_above() -> None:
    index = index_with(SimulatedDisk(), FIRST, SECOND, THIRD)
    index.truncate_to(13)
    assert list(index.entries()) == [FIRST]
    index.append(SECOND)
    index.truncate_to(14)
    assert list(index.entries()) == [FIRST, SECOND]


def test_file_is_made_under_the_name_the_segment_has_by_then() -> None:
    disk = SimulatedDisk()
    index = index_with(disk)
    index.path = PATH + ".swap"
    index.append(FIRST)
    assert disk.list_directory("/") == ["00000000000000000000.txnindex.swap"]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(bytes(33), id="part of an entry"),
        pytest.param(bytes(34), id="zeros"),
        pytest.param(b"\x00\x01" + bytes(32), id="unknown version"),
    ],
)
def test_sanity_check_refuses_what_is_no_index(content: bytes) -> None:
    disk = SimulatedDisk()
    disk.open(PATH, create=True).write_at(0, [content])
    index = TransactionIndex(disk, PATH, start_offset=0)
    with pytest.raises(CorruptIndexError, match="index its segment again"):
        index.sanity_check()
    index.truncate()
    index.append(FIRST)
    index.sanity_check()


def test_sanity_check_refuses_a_transaction_that_ended_before_the_segment() -> None:
    disk = SimulatedDisk()
    index_with(disk, FIRST)
    with pytest.raises(CorruptIndexError):
        TransactionIndex(disk, PATH, start_offset=11).sanity_check()
