from __future__ import annotations

import pytest

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from ottla.storage.producers.producer_history import ProducerHistory
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import NEVER_MS, all_batches, facts, replayed
from tests.support.storage.logs import (
    DIRECTORY,
    NOW_MS,
    PARTITION,
    append,
    base_offsets,
    end_transaction,
    opened,
)

SIZE = len(batch_of(b"v" * 50))
CONFIG = LogConfig(segment_bytes=4 * SIZE)


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    """Ten batches of three producers, four to a segment."""
    log = opened(disk, CONFIG, clean=True)
    for number in range(10):
        append(log, batch_of(b"v" * 50, producer_id=number % 3, sequence=number // 3))
    assert base_offsets(log) == [0, 4, 8]
    return log


def snapshots(disk: SimulatedDisk) -> list[int]:
    names = disk.list_directory(DIRECTORY)
    return [int(name[:20]) for name in names if name.endswith(".snapshot")]


def history(disk: SimulatedDisk) -> ProducerHistory:
    return ProducerHistory(disk, DIRECTORY, PARTITION, producer_id_expiration_ms=NEVER_MS)


def sequences(producers: ProducerHistory) -> dict[int, int]:
    return {entry.producer_id: entry.last_sequence for entry in producers.state.entries.values()}


def test_a_snapshot_is_taken_where_a_segment_begins_and_written_with_the_flush(
    disk: SimulatedDisk, log: Log
) -> None:
    assert snapshots(disk) == []
    assert [snapshot.offset for snapshot in log.producers.waiting_snapshots()] == [4, 8]

    log.flush()

    assert snapshots(disk) == [4, 8]
    assert log.producers.waiting_snapshots() == ()


def test_closing_leaves_a_snapshot_of_the_end(disk: SimulatedDisk, log: Log) -> None:
    log.close()

    assert snapshots(disk) == [4, 8, 10]


@pytest.mark.parametrize("offset", range(11))
@pytest.mark.parametrize("flushed", [False, True])
def test_the_state_of_any_offset_can_be_had_again(
    disk: SimulatedDisk, log: Log, offset: int, flushed: bool
) -> None:
    if flushed:
        log.flush()
    producers = history(disk)

    producers.load_up_to(offset, log.segments, now_ms=NOW_MS)

    scratch = replayed([batch.data for batch in all_batches(log)][:offset])
    assert {facts(entry) for entry in producers.state.entries.values()} == {
        facts(entry) for entry in scratch.state.entries.values()
    }


def test_the_last_snapshot_spares_reading_what_is_before_it(disk: SimulatedDisk, log: Log) -> None:
    log.close()
    log = opened(disk, CONFIG, clean=True)
    disk.counters = DiskCounters()

    history(disk).load_up_to(10, log.segments, now_ms=NOW_MS)

    assert disk.counters.reads == 1


def test_snapshots_above_the_offset_are_forgotten(disk: SimulatedDisk, log: Log) -> None:
    log.flush()

    log.producers.load_up_to(7, log.segments, now_ms=NOW_MS)

    assert snapshots(disk) == [4]


def test_snapshots_below_the_first_segment_are_forgotten(disk: SimulatedDisk, log: Log) -> None:
    log.flush()
    log.advance_high_watermark(10)
    log.delete_records_before(8)

    log.delete_expired_segments(now_ms=NOW_MS)

    assert snapshots(disk) == [8]


def test_a_snapshot_that_cannot_be_read_is_removed_and_an_older_one_used(
    disk: SimulatedDisk, log: Log
) -> None:
    log.flush()
    disk.flip_bit(f"{DIRECTORY}/{8:020}.snapshot", position=10, bit=0)
    producers = history(disk)

    producers.load_up_to(10, log.segments, now_ms=NOW_MS)

    assert snapshots(disk) == [4]
    assert sequences(producers) == {0: 3, 1: 2, 2: 2}


def test_strays_go_and_the_last_one_stays(disk: SimulatedDisk, log: Log) -> None:
    log.flush()
    for offset in (2, 5, 6, 9, 10):
        log.producers.take_snapshot(offset)
    log.flush()

    log.producers.forget_strays(log.segments)

    assert snapshots(disk) == [4, 8, 10]


def test_restarting_forgets_everything(disk: SimulatedDisk, log: Log) -> None:
    log.flush()
    log.producers.take_snapshot(10)

    log.producers.restart()

    assert snapshots(disk) == []
    assert log.producers.waiting_snapshots() == ()
    assert not log.producers.state.entries


def test_a_snapshot_written_for_producers_that_never_were_is_removed(
    disk: SimulatedDisk, log: Log
) -> None:
    flush = log.prepare_flush()
    assert flush is not None
    flush.run()
    assert snapshots(disk) == [4, 8]
    log.producers.forget_snapshots(above=5)

    log.producers.snapshots_written(flush.snapshots)

    assert snapshots(disk) == [4]


def test_a_replay_ends_transactions(disk: SimulatedDisk, log: Log) -> None:
    for producer_id in (7, 8):
        append(log, batch_of(b"v", producer_id=producer_id, sequence=0, is_transactional=True))
    end_transaction(log, producer_id=7, commit=False)
    producers = history(disk)

    producers.load_up_to(log.log_end_offset, log.segments, now_ms=NOW_MS)

    assert producers.state.entries[7].current_txn_first_offset is None
    assert producers.state.first_undecided_offset == 11


def test_an_open_transaction_survives_in_a_snapshot(disk: SimulatedDisk, log: Log) -> None:
    append(log, batch_of(b"v", producer_id=7, sequence=0, is_transactional=True))
    log.close()
    log = opened(disk, CONFIG, clean=True)

    assert log.producers.state.first_undecided_offset == 10
    end_transaction(log, producer_id=7, commit=False)
    assert log.aborted_transactions(fetch_offset=0, upper_bound_offset=12) == [(7, 10, 11, 12)]
