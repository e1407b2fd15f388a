from __future__ import annotations

import pytest

from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import (
    all_batches,
    assert_only_files_of_segments,
    assert_sound,
)
from tests.support.storage.logs import (
    NOW_MS,
    Checkpoints,
    append,
    base_offsets,
    end_transaction,
    new_log,
    opened,
    read_all,
)

SIZE = len(batch_of(b"v" * 50, b"v" * 50))
CONFIG = LogConfig(segment_bytes=4 * SIZE, index_interval_bytes=SIZE)


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    """Ten batches of two records, four to a segment, the last ones of another epoch."""
    log = opened(disk, CONFIG, clean=True)
    for number in range(10):
        append(
            log,
            batch_of(
                *[bytes([number]) * 50] * 2,
                producer_id=number % 2,
                sequence=number // 2 * 2,
                timestamp=1_000 + number,
            ),
            epoch=number // 5,
        )
    assert base_offsets(log) == [0, 8, 16]
    return log


def truncate(log: Log, offset: int) -> None:
    log.truncate_to(offset, now_ms=NOW_MS)
    assert_sound(log)


@pytest.mark.parametrize("offset", range(21))
def test_truncation_keeps_whole_batches_below_the_offset(log: Log, offset: int) -> None:
    before = [batch.data for batch in all_batches(log)]

    truncate(log, offset)

    assert log.log_end_offset == offset // 2 * 2
    assert [batch.data for batch in all_batches(log)] == before[: offset // 2]
    assert read_all(log) == b"".join(before[: offset // 2])


@pytest.mark.parametrize("offset", range(20))
def test_a_truncated_log_goes_on_where_it_was_cut(
    disk: SimulatedDisk, log: Log, offset: int
) -> None:
    truncate(log, offset)

    for _ in range(12):
        append(log, batch_of(b"new" * 30), epoch=5, now_ms=NOW_MS)

    assert log.log_end_offset == offset // 2 * 2 + 12
    assert_sound(log)
    assert_only_files_of_segments(disk, log)


def test_truncating_to_the_end_or_past_it_does_nothing(log: Log) -> None:
    before = read_all(log)

    truncate(log, 20)
    truncate(log, 25)

    assert read_all(log) == before
    assert log.truncations == 0


def test_truncation_forgets_epochs_and_producers_of_what_is_cut(log: Log) -> None:
    truncate(log, 7)

    assert list(log.epochs.entries) == [(0, 0)]
    assert {
        producer_id: entry.last_sequence
        for producer_id, entry in log.producers.state.entries.items()
    } == {0: 3, 1: 1}
    batch = batch_of(b"v" * 50, b"v" * 50, producer_id=1, sequence=2)
    assert append(log, batch).first_offset == 6


def test_truncation_takes_the_high_watermark_back(log: Log) -> None:
    log.advance_high_watermark(20)

    truncate(log, 5)

    assert log.high_watermark == 4


def test_truncation_below_the_logs_start_takes_the_start_back(log: Log) -> None:
    log.advance_high_watermark(20)
    log.delete_records_before(15)

    truncate(log, 10)

    assert (log.log_start_offset, log.log_end_offset) == (10, 10)


def test_truncation_below_the_first_segment_begins_the_log_anew(
    disk: SimulatedDisk, log: Log
) -> None:
    log.advance_high_watermark(20)
    log.delete_records_before(16)
    log.delete_expired_segments(now_ms=NOW_MS)
    log.retired.purge()
    assert base_offsets(log) == [16]

    truncate(log, 10)

    assert base_offsets(log) == [10]
    assert (log.log_start_offset, log.log_end_offset) == (10, 10)
    assert_only_files_of_segments(disk, log)


@pytest.mark.parametrize("start", [0, 7, 20, 500])
def test_a_fully_truncated_log_is_empty_and_begins_at_the_given_offset(
    disk: SimulatedDisk, log: Log, start: int
) -> None:
    log.truncate_fully(start, now_ms=NOW_MS)

    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (start, start, start)
    assert base_offsets(log) == [start]
    assert not log.epochs.entries
    assert not log.producers.state.entries
    assert append(log, batch_of(b"v"), epoch=9).first_offset == start
    assert_sound(log)
    assert_only_files_of_segments(disk, log)


def test_truncation_reopens_transactions_whose_markers_are_cut() -> None:
    log = new_log()
    append(log, batch_of(b"a", producer_id=7, sequence=0, is_transactional=True))
    end_transaction(log, producer_id=7, commit=False)
    append(log, batch_of(b"b"))
    log.advance_high_watermark(3)
    assert log.last_stable_offset == 3

    log.truncate_to(1, now_ms=NOW_MS)
    append(log, batch_of(b"b"))
    log.advance_high_watermark(2)

    assert log.last_stable_offset == 0
    assert log.aborted_transactions(fetch_offset=0, upper_bound_offset=2) == []


def test_truncation_leaves_committed_transactions_stable() -> None:
    log = new_log()
    append(log, batch_of(b"a", producer_id=7, sequence=0, is_transactional=True))
    end_transaction(log, producer_id=7, commit=True)
    append(log, batch_of(b"b", b"c"))
    append(log, batch_of(b"d"))
    log.advance_high_watermark(4)

    log.truncate_to(4, now_ms=NOW_MS)

    assert log.last_stable_offset == 4


# ---- durability


@pytest.mark.parametrize("seed", range(30))
def test_what_was_cut_stays_cut_after_power_loss(seed: int) -> None:
    disk, dice = SimulatedDisk(), SeededDice(seed)
    log = opened(disk, CONFIG, clean=True)
    for number in range(10):
        append(log, batch_of(b"old %d" % number * 10))
    log.flush()
    Checkpoints(disk).write(log)
    kept = [batch.data for batch in all_batches(log)][:5]

    log.truncate_to(5, now_ms=NOW_MS)
    disk.crash(dice)

    log = opened(disk, CONFIG)
    assert [batch.data for batch in all_batches(log)] == kept


def test_the_recovery_point_is_lowered_durably_before_anything_is_cut(
    disk: SimulatedDisk, log: Log
) -> None:
    log.flush()
    checkpoints = Checkpoints(disk)
    checkpoints.write(log)

    log.truncate_to(13, now_ms=NOW_MS)

    # The batch of offset 13 begins at 12: from there on nothing is safe.
    assert log.recovery_point == 12
    assert checkpoints.recovery_point == 12


def test_appends_into_the_place_of_a_cut_batch_are_flushed(disk: SimulatedDisk, log: Log) -> None:
    log.flush()
    log.truncate_to(13, now_ms=NOW_MS)
    append(log, batch_of(b"one"))
    assert log.log_end_offset == 13

    log.flush()
    Checkpoints(disk).write(log)
    batches = [batch.data for batch in all_batches(log)]
    disk.crash(SeededDice(1))

    assert [batch.data for batch in all_batches(opened(disk, CONFIG))] == batches


def test_a_flush_that_a_truncation_overtook_proves_nothing(disk: SimulatedDisk, log: Log) -> None:
    flush = log.prepare_flush()
    assert flush is not None
    log.truncate_to(6, now_ms=NOW_MS)
    append(log, batch_of(b"new", producer_id=5, sequence=0))

    flush.run()
    log.complete_flush(flush)

    assert log.recovery_point == 0
    log.flush()
    assert log.recovery_point == 7
    Checkpoints(disk).write(log)
    disk.crash(SeededDice(0))
    log = opened(disk, CONFIG)
    assert log.log_end_offset == 7
    assert set(log.producers.state.entries) == {0, 1, 5}
    assert_sound(log)


def test_snapshots_of_what_was_cut_are_not_left_behind(disk: SimulatedDisk, log: Log) -> None:
    flush = log.prepare_flush()
    assert flush is not None
    log.truncate_to(6, now_ms=NOW_MS)
    flush.run()
    log.complete_flush(flush)

    assert not [name for name in disk.list_directory(log.directory) if name.endswith(".snapshot")]


def test_truncated_indexes_do_not_come_back_after_a_clean_close(
    disk: SimulatedDisk, log: Log
) -> None:
    for seed in range(20):
        append(log, batch_of(*[b"v" * 50] * 2), epoch=1)
        log.flush()
        log.truncate_to(18, now_ms=NOW_MS)
        log.close()
        disk.crash(SeededDice(seed))
        log = opened(disk, CONFIG, clean=True)
        assert log.log_end_offset == 18
        assert_sound(log)
