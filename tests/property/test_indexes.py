"""Each index against the plain list that it stands for."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.indexes.offset_index import OffsetIndex, OffsetPosition
from ottla.storage.indexes.time_index import TimeIndex, TimestampOffset
from ottla.storage.indexes.transaction_index import AbortedTransaction, TransactionIndex
from tests.support.kafka.kafka_acceptance import assert_kafka_accepts, assert_kafka_accepts_index

pytestmark = pytest.mark.judged

BASE = 1000
OFFSET_INDEX = "/t-0/00000000000000001000.index"
TIME_INDEX = "/t-0/00000000000000001000.timeindex"
TRANSACTION_INDEX = "/t-0/00000000000000000000.txnindex"

# Runs of even steps and jumps: the search leans on even keys and has to survive the others.
STEPS = st.integers(1, 5) | st.sampled_from([1000, 100_000])
RUNS = st.lists(st.tuples(STEPS, STEPS, st.integers(1, 700)), max_size=6)


class Change(NamedTuple):
    """What happens between two runs of appends."""

    flush: bool
    reopen: bool
    truncate_back: int | None


CHANGES = st.builds(Change, st.booleans(), st.booleans(), st.none() | st.integers(0, 300))


def empty_disk() -> SimulatedDisk:
    disk = SimulatedDisk()
    disk.make_directories("/t-0")
    return disk


def grow(runs: list[tuple[int, int, int]]) -> list[list[tuple[int, int]]]:
    first, second, grown = 0, 0, []
    for first_step, second_step, length in runs:
        run = []
        for _ in range(length):
            first += first_step
            second += second_step
            run.append((first, second))
        grown.append(run)
    return grown


@settings(deadline=None, max_examples=60)
@given(RUNS, st.lists(CHANGES, min_size=6, max_size=6), st.lists(st.integers(-5, 10**6)))
def test_offset_index_agrees_with_a_list(
    runs: list[tuple[int, int, int]], changes: list[Change], targets: list[int]
) -> None:
    disk = empty_disk()
    model: list[OffsetPosition] = []
    index = OffsetIndex(disk.open(OFFSET_INDEX, create=True), base_offset=BASE, entries_max=10**6)
    for run, change in zip(grow(runs), changes, strict=False):
        for relative_offset, position in run:
            index.append(offset=BASE + relative_offset, position=position)
            model.append(OffsetPosition(BASE + relative_offset, position))
        if change.flush:
            index.flush()
        if change.truncate_back is not None:
            end = run[-1][0] + BASE - change.truncate_back
            index.truncate_to(end)
            model = [entry for entry in model if entry.offset < end]
        if change.reopen:
            index.close()
            index = OffsetIndex(disk.open(OFFSET_INDEX), base_offset=BASE, entries_max=10**6)
        index.sanity_check()
    assert list(index.entries()) == model
    assert index.last_entry == (model[-1] if model else OffsetPosition(BASE, 0))
    near = [entry.offset + delta for entry in model[:: len(model) // 20 + 1] for delta in (-1, 0)]
    for target in [*targets, *near]:
        below = [entry for entry in model if entry.offset <= target]
        assert index.lookup(target) == (below[-1] if below else OffsetPosition(BASE, 0))
    for size in targets:
        above = [entry for entry in model if entry.position >= 7 + size]
        assert index.upper_bound(OffsetPosition(0, 7), size=size) == (above[0] if above else None)
    index.close()
    assert_kafka_accepts_index(disk, OFFSET_INDEX)


@settings(deadline=None, max_examples=60)
@given(RUNS, st.lists(CHANGES, min_size=6, max_size=6), st.lists(st.integers(-5, 10**6)))
def test_time_index_agrees_with_a_list(
    runs: list[tuple[int, int, int]], changes: list[Change], targets: list[int]
) -> None:
    disk = empty_disk()
    model: list[TimestampOffset] = []
    index = TimeIndex(disk.open(TIME_INDEX, create=True), base_offset=BASE, entries_max=10**6)
    for run, change in zip(grow(runs), changes, strict=False):
        for timestamp, relative_offset in run:
            index.maybe_append(timestamp=timestamp, offset=BASE + relative_offset)
            index.maybe_append(timestamp=timestamp, offset=BASE + relative_offset)
            model.append(TimestampOffset(timestamp, BASE + relative_offset))
        if change.flush:
            index.flush()
        if change.truncate_back is not None:
            end = run[-1][1] + BASE - change.truncate_back
            index.truncate_to(end)
            model = [entry for entry in model if entry.offset < end]
        if change.reopen:
            index.close()
            index = TimeIndex(disk.open(TIME_INDEX), base_offset=BASE, entries_max=10**6)
        index.sanity_check()
    assert list(index.entries()) == model
    near = [
        entry.timestamp + delta for entry in model[:: len(model) // 20 + 1] for delta in (-1, 0)
    ]
    for target in [*targets, *near]:
        below = [entry for entry in model if entry.timestamp <= target]
        assert index.lookup(target) == (below[-1] if below else TimestampOffset(-1, BASE))
    index.close()
    assert_kafka_accepts_index(disk, TIME_INDEX)


# A log of three producers in which every step writes a record or aborts what the producer wrote.
WRITES = st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=200)


def aborted_transactions(writes: list[tuple[int, bool]]) -> list[AbortedTransaction]:
    ongoing: dict[int, int] = {}
    aborted = []
    for offset, (producer_id, ends) in enumerate(writes):
        if not ends:
            ongoing.setdefault(producer_id, offset)
        elif producer_id in ongoing:
            first_offset = ongoing.pop(producer_id)
            last_stable_offset = min(ongoing.values(), default=offset + 1)
            aborted.append(
                AbortedTransaction(producer_id, first_offset, offset, last_stable_offset)
            )
    return aborted


@settings(deadline=None, max_examples=100)
@given(WRITES, st.integers(0, 220), st.integers(0, 220), st.integers(0, 220))
def test_transaction_index_collects_what_a_scan_of_the_whole_log_would(
    writes: list[tuple[int, bool]], truncate_to: int, start: int, length: int
) -> None:
    model = aborted_transactions(writes)
    disk = empty_disk()
    index = TransactionIndex(disk, TRANSACTION_INDEX, start_offset=0)
    for transaction in model:
        index.append(transaction)
    index.sanity_check()
    index.truncate_to(truncate_to)
    model = [transaction for transaction in model if transaction.last_offset < truncate_to]
    assert list(index.entries()) == model
    collected = index.collect(fetch_offset=start, upper_bound_offset=start + length)
    assert collected.transactions == [
        transaction
        for transaction in model
        if transaction.last_offset >= start and transaction.first_offset < start + length
    ]
    if collected.is_complete:
        later = aborted_transactions(writes)[len(model) :]
        assert all(transaction.first_offset >= start + length for transaction in later)
    index.close()
    if disk.exists(TRANSACTION_INDEX):
        assert_kafka_accepts(disk, "/t-0")
