"""A sync that failed, a process that starts again on the same host, and then the power goes."""

from __future__ import annotations

import errno

import pytest

from ottla.model import Uuid
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import Operation
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import all_batches, assert_sound
from tests.support.storage.logs import NOW_MS, PARTITION, Checkpoints, append, opened

CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=100)
TOPIC_ID = Uuid(bytes(range(16)))


def log_after_failed_sync(disk: SimulatedDisk) -> list[bytes]:
    """Some batches are safe and some are in the page cache alone, and look the same."""
    log = opened(disk, CONFIG, clean=True)
    for number in range(5):
        append(log, batch_of(b"%d" % number * 50))
    log.flush()
    Checkpoints(disk).write(log)
    for number in range(20):
        append(log, batch_of(b"%d" % number * 50))
    disk.faults.fail("/", Operation.SYNC)
    with pytest.raises(OSError, match="a sync failed"):
        log.flush()
    disk.faults.heal("/")
    return [batch.data for batch in all_batches(log)]


@pytest.mark.parametrize("seed", range(20))
def test_what_a_failed_sync_left_in_the_page_cache_is_safe_once_it_is_recovered(seed: int) -> None:
    disk = SimulatedDisk()
    batches = log_after_failed_sync(disk)
    disk.kill()
    log = opened(disk, CONFIG)
    Checkpoints(disk).write(log)
    assert log.recovery_point == log.log_end_offset

    disk.crash(SeededDice(seed))
    log = opened(disk, CONFIG)

    assert [batch.data for batch in all_batches(log)] == batches
    assert_sound(log)


def test_only_what_is_not_known_to_be_safe_is_written_again() -> None:
    disk = SimulatedDisk()
    log = opened(disk, LogConfig(), clean=True)
    safe = b"".join(appended(log, 5))
    log.flush()
    Checkpoints(disk).write(log)
    rest = b"".join(appended(log, 3))
    disk.kill()
    before = disk.counters.bytes_written
    opened(disk, LogConfig())
    written = disk.counters.bytes_written - before
    assert len(rest) <= written < len(safe)


def appended(log: Log, count: int) -> list[bytes]:
    batches = [bytes(batch_of(b"x" * 2_000)) for _ in range(count)]
    for batch in batches:
        append(log, batch)
    return batches


def test_a_sync_that_found_the_disk_full_is_no_full_disk_but_a_loss() -> None:
    disk = SimulatedDisk()
    log = opened(disk, CONFIG, clean=True)
    append(log, batch_of(b"x"))
    disk.faults.fail("/", Operation.SYNC, error=errno.ENOSPC)
    with pytest.raises(OSError, match="a sync failed") as raised:
        log.flush()
    assert raised.value.errno == errno.EIO


@pytest.mark.parametrize("seed", range(20))
def test_a_new_log_whose_identity_was_not_synced_keeps_it_with_its_first_records(seed: int) -> None:
    disk, config = SimulatedDisk(), LogConfig()
    directory = LogDirectory(disk, "/data")
    directory.load(lambda _partition: config, now_ms=NOW_MS)
    disk.faults.fail("/", Operation.SYNC)
    with pytest.raises(OSError, match="a sync failed"):
        directory.create_log(PARTITION, TOPIC_ID, config, now_ms=NOW_MS)
    disk.faults.heal("/")

    directory = reopened(disk, config)
    append(directory.logs[PARTITION], batch_of(b"x"))
    directory.logs[PARTITION].flush()
    directory.write_checkpoints()
    disk.crash(SeededDice(seed))

    directory = reopened(disk, config)
    assert directory.topic_id(PARTITION) == TOPIC_ID
    assert directory.logs[PARTITION].log_end_offset == 1


def reopened(disk: SimulatedDisk, config: LogConfig) -> LogDirectory:
    disk.kill()
    directory = LogDirectory(disk, "/data")
    directory.load(lambda _partition: config, now_ms=NOW_MS)
    return directory
