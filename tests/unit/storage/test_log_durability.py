"""What a flush promises, and what a failing disk leaves of a log."""

from __future__ import annotations

import errno

import pytest

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import Operation
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.files.file_names import FileKind
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import (
    all_batches,
    assert_only_files_of_segments,
    assert_producers_are,
    assert_sound,
    directory_content,
    replayed,
)
from tests.support.storage.logs import (
    DIRECTORY,
    NOW_MS,
    Checkpoints,
    append,
    base_offsets,
    end_transaction,
    marker,
    opened,
    read_all,
)

CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=100)


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    log = opened(disk, CONFIG, clean=True)
    for number in range(5):
        append(log, batch_of(b"v" * 50, producer_id=1, sequence=number), epoch=number // 3)
    return log


# ---- flushing


def test_a_flush_moves_the_recovery_point_to_the_end(log: Log) -> None:
    assert log.recovery_point == 0

    log.flush()

    assert log.recovery_point == 5


def test_a_flush_covers_what_was_appended_before_it_was_prepared(log: Log) -> None:
    flush = log.prepare_flush()
    assert flush is not None
    append(log, batch_of(b"later"), epoch=1)
    flush.run()
    assert log.recovery_point == 0

    log.complete_flush(flush)

    assert log.recovery_point == 5
    assert log.log_end_offset == 6


def test_there_is_nothing_to_flush_twice(disk: SimulatedDisk, log: Log) -> None:
    log.flush()
    disk.counters = DiskCounters()

    assert log.prepare_flush() is None
    log.flush()

    assert disk.counters == DiskCounters()


@pytest.mark.parametrize("seed", range(20))
def test_what_was_flushed_survives_power_loss_without_a_checkpoint(seed: int) -> None:
    disk = SimulatedDisk()
    log = opened(disk, CONFIG, clean=True)
    for number in range(30):
        append(log, batch_of(b"%d" % number * 30))
    log.flush()
    batches = [batch.data for batch in all_batches(log)]
    disk.crash(SeededDice(seed))

    log = opened(disk, CONFIG)

    assert [batch.data for batch in all_batches(log)] == batches
    assert_sound(log)


def test_a_flush_syncs_only_segments_above_the_recovery_point(
    disk: SimulatedDisk, log: Log
) -> None:
    for number in range(30):
        append(log, batch_of(b"%d" % number * 30), epoch=1)
    log.flush()
    append(log, batch_of(b"one more"), epoch=1)

    flush = log.prepare_flush()

    assert flush is not None
    assert flush.segments == (log.segments.active,)


def test_a_flush_writes_the_epochs_and_snapshots_that_wait(disk: SimulatedDisk, log: Log) -> None:
    log.roll(now_ms=NOW_MS)

    log.flush()

    names = disk.list_directory(log.directory)
    assert "00000000000000000005.snapshot" in names
    assert "leader-epoch-checkpoint" in names
    assert not log.epochs.is_dirty


def test_the_end_of_a_time_index_that_a_roll_wrote_after_the_flush_is_not_lost(
    disk: SimulatedDisk, log: Log
) -> None:
    log.flush()
    Checkpoints(disk).write(log)
    log.roll(now_ms=NOW_MS)
    append(log, batch_of(b"v"), epoch=1)

    for seed in range(10):
        disk.crash(SeededDice(seed))
        log = opened(disk, CONFIG)
        assert_sound(log)
        append(log, batch_of(b"v"), epoch=1)
        log.flush()


# ---- a full disk


def test_an_append_that_finds_the_disk_full_leaves_the_log_as_it_was(
    disk: SimulatedDisk, log: Log
) -> None:
    before = directory_content(disk, DIRECTORY)
    disk.limit_space(50)

    with pytest.raises(OSError, match="No space left"):
        append(log, batch_of(b"v" * 200, producer_id=1, sequence=5), epoch=1)

    assert directory_content(disk, DIRECTORY) == before
    assert log.log_end_offset == 5
    assert_sound(log)
    disk.limit_space(None)
    assert append(log, batch_of(b"w", producer_id=1, sequence=5), epoch=1).first_offset == 5
    assert_sound(log)


def test_a_log_opens_again_after_an_append_that_found_the_disk_full(
    disk: SimulatedDisk, log: Log
) -> None:
    disk.limit_space(150)
    with pytest.raises(OSError, match="No space left"):
        append(log, batch_of(b"v" * 200), epoch=1)
    append(log, batch_of(b"w"), epoch=1)
    before = read_all(log)
    disk.limit_space(None)
    log.close()

    log = opened(disk, CONFIG, clean=True)

    assert read_all(log) == before
    assert_sound(log)


def test_a_roll_that_finds_the_disk_full_leaves_no_segment_behind(
    disk: SimulatedDisk, log: Log
) -> None:
    while log.segments.active.size < 800:
        append(log, batch_of(b"v"), epoch=1)
    failing = f"{DIRECTORY}/{log.log_end_offset:020}.index"
    disk.faults.fail(failing, Operation.NAMES, error=errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        append(log, batch_of(b"v" * 200), epoch=1)

    # There is room for a smaller batch in the old segment, past the base of the one that failed.
    append(log, batch_of(b"v"), epoch=1)
    assert base_offsets(log) == [0]
    assert_only_files_of_segments(disk, log)
    before = read_all(log)
    disk.crash(SeededDice(0))
    log = opened(disk, CONFIG)
    assert before.startswith(read_all(log))


def test_a_full_disk_does_not_refuse_a_batch_for_its_index_entry(disk: SimulatedDisk) -> None:
    config = LogConfig(index_interval_bytes=0)
    log = opened(disk, config, clean=True)
    disk.faults.fail(log.segments.active.path(FileKind.OFFSET_INDEX), Operation.WRITE)

    # More entries than wait in memory before they are written.
    for number in range(600):
        append(log, batch_of(b"v", timestamp=number))

    assert log.log_end_offset == 600
    with pytest.raises(OSError, match="simulated"):
        log.flush()
    disk.faults.heal(log.segments.active.path(FileKind.OFFSET_INDEX))
    log.flush()
    assert_sound(log)


def test_an_abort_that_the_transaction_index_does_not_take_is_not_appended(
    disk: SimulatedDisk, log: Log
) -> None:
    append(log, batch_of(b"a", producer_id=7, sequence=0, is_transactional=True), epoch=1)
    append(log, batch_of(b"b"), epoch=1)
    disk.limit_space(len(marker(producer_id=7, commit=False)) + 10)

    with pytest.raises(OSError, match="No space left"):
        end_transaction(log, producer_id=7, commit=False, epoch=1)

    disk.limit_space(None)
    log.advance_high_watermark(log.log_end_offset)
    assert (log.log_end_offset, log.last_stable_offset) == (7, 5)
    end_transaction(log, producer_id=7, commit=False, epoch=1)
    assert log.aborted_transactions(fetch_offset=0, upper_bound_offset=8) == [(7, 5, 7, 8)]
    assert_producers_are(log, replayed([batch.data for batch in all_batches(log)]))
    assert_sound(log)


def test_a_failing_sync_moves_no_recovery_point(disk: SimulatedDisk, log: Log) -> None:
    disk.faults.fail(DIRECTORY, Operation.SYNC)

    with pytest.raises(OSError, match="simulated"):
        log.flush()

    assert log.recovery_point == 0


# ---- closing


@pytest.mark.parametrize("seed", range(30))
def test_a_closed_log_is_durable_to_the_last_byte(seed: int) -> None:
    disk, dice = SimulatedDisk(), SeededDice(seed)
    log = opened(disk, CONFIG, clean=True)
    for number in range(dice.below(30)):
        append(log, batch_of(b"%d" % number * 30, timestamp=1_000 + number))
        if dice.chance(0.2):
            log.flush()
        if dice.chance(0.1):
            log.roll(now_ms=NOW_MS)
    log.close()
    before = directory_content(disk, DIRECTORY)
    disk.crash(dice)

    assert directory_content(disk, DIRECTORY) == before
    log = opened(disk, CONFIG, clean=True)
    assert_sound(log)
    assert log.segments.active.time_index.last_entry == log.segments.active.max_timestamp


def test_a_closed_log_keeps_no_file_open(disk: SimulatedDisk, log: Log) -> None:
    file = log.segments.active.log_file

    log.close()

    with pytest.raises(OSError, match="is closed"):
        file.size()


def test_abandoning_a_log_writes_nothing_but_waiting_index_entries(
    disk: SimulatedDisk, log: Log
) -> None:
    log.flush()
    disk.counters = DiskCounters()

    log.abandon()

    assert disk.counters == DiskCounters()
