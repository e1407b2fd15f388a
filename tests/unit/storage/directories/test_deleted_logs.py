"""Logs of deleted topics: aside and back, whatever moment the power fails at."""

from __future__ import annotations

import errno
from contextlib import suppress

import pytest

from ottla.model import TopicPartition, Uuid
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import Operation, PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.directories.deleted_logs import FILE_NAME, KeptLog
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_offsets import LogOffsets
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.directories.stray_directories import find_strays
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of

ORDERS = TopicPartition("orders", 0)
RENAMED = TopicPartition("other", 0)
TOPIC_ID = Uuid(bytes(range(16)))
CONFIG = LogConfig(segment_bytes=1_000)
RECORDS = 30
START = 12


def opened(disk: SimulatedDisk) -> LogDirectory:
    directory = LogDirectory(disk, "/logs")
    directory.load(lambda _: CONFIG, now_ms=0)
    return directory


def with_records(disk: SimulatedDisk) -> LogDirectory:
    """Records, of which the first were deleted by DeleteRecords."""
    directory = opened(disk)
    log = directory.create_log(ORDERS, TOPIC_ID, CONFIG, now_ms=0)
    for number in range(RECORDS):
        log.append_as_leader(batch_of(b"%d" % number), leader_epoch=0, now_ms=1_000)
    log.advance_high_watermark(RECORDS)
    log.delete_records_before(START)
    log.flush()
    directory.write_checkpoints()
    return directory


def set_aside(directory: LogDirectory, name: TopicPartition = ORDERS) -> None:
    log = directory.logs[name]
    kept = KeptLog(TOPIC_ID, name, LogOffsets.of(log), compacted_up_to=0, size=1)
    directory.let_go([name])
    directory.deleted.add(directory.deleted.keep([kept]))


def restore(directory: LogDirectory, name: TopicPartition = ORDERS) -> None:
    deleted = directory.deleted.get(TOPIC_ID, name.partition)
    assert deleted is not None
    directory.prepare_names([name])
    directory.deleted.take(deleted)
    directory.deleted.rename_back({name: deleted})
    directory.adopt(directory.deleted.open(name, CONFIG, now_ms=0))
    directory.write_checkpoints()
    directory.deleted.complete([name])


def offsets(directory: LogDirectory, name: TopicPartition = ORDERS) -> tuple[int, int, int]:
    log = directory.logs[name]
    return log.log_start_offset, log.high_watermark, log.log_end_offset


@pytest.mark.parametrize("name", [ORDERS, RENAMED])
def test_a_log_comes_back_with_its_offsets(name: TopicPartition) -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    set_aside(directory)
    assert not directory.logs
    assert directory.deleted.size == 1

    restore(directory, name)

    assert offsets(directory, name) == (START, RECORDS, RECORDS)
    assert len(directory.deleted) == 0
    assert not disk.exists(f"/logs/{name}/{FILE_NAME}")
    directory.logs[name].append_as_leader(batch_of(b"more"), leader_epoch=1, now_ms=2_000)
    directory.close(broker_epoch=1)
    assert offsets(opened(disk), name) == (START, RECORDS, RECORDS + 1)


def test_a_restart_finds_what_is_aside_and_how_large_it_is() -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    set_aside(directory)
    directory.close(broker_epoch=1)

    directory = opened(disk)

    assert not directory.logs
    assert directory.deleted.size > RECORDS * 60
    restore(directory)
    assert offsets(directory) == (START, RECORDS, RECORDS)


def test_a_large_name_is_found_by_its_id() -> None:
    """The directory's name has only a part of it."""
    name = TopicPartition("o" * 249, 7)
    disk = SimulatedDisk()
    directory = opened(disk)
    log = directory.create_log(name, TOPIC_ID, CONFIG, now_ms=0)
    log.append_as_leader(batch_of(b"1"), leader_epoch=0, now_ms=1_000)
    set_aside(directory, name)
    directory.close(broker_epoch=1)

    directory = opened(disk)
    restore(directory, name)

    assert directory.logs[name].log_end_offset == 1


def test_another_topic_of_the_name_does_not_share_the_offsets() -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    set_aside(directory)
    other = directory.create_log(ORDERS, Uuid(b"?" * 16), CONFIG, now_ms=0)
    other.append_as_leader(batch_of(b"new"), leader_epoch=0, now_ms=1_000)

    restore(directory, RENAMED)

    assert offsets(directory, RENAMED) == (START, RECORDS, RECORDS)
    assert offsets(directory)[::2] == (0, 1)


def test_a_log_is_set_aside_also_when_its_offsets_cannot_be_written() -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    path = f"/logs/{ORDERS}/{FILE_NAME}"
    disk.faults.fail(path, Operation.WRITE, error=errno.ENOSPC)
    set_aside(directory)
    disk.faults.heal(path)
    assert not disk.exists(f"/logs/{ORDERS}")

    restore(directory)

    # Recovered from the beginning; the log start offset is lost.
    assert offsets(directory) == (0, 0, RECORDS)


def test_a_log_that_kept_its_name_does_not_become_the_log_of_another_topic() -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    disk.faults.fail(f"/logs/{ORDERS}", Operation.NAMES, error=errno.ENOSPC)
    with pytest.raises(OSError, match="No space left"):
        set_aside(directory)
    disk.faults.heal(f"/logs/{ORDERS}")
    assert disk.exists(f"/logs/{ORDERS}")

    other = directory.create_log(ORDERS, Uuid(b"?" * 16), CONFIG, now_ms=0)

    assert other.log_end_offset == 0
    (stray,) = find_strays(disk, "/logs", now_ms=0)
    assert (stray.partition, stray.topic_id) == (ORDERS, TOPIC_ID)


def test_a_log_goes_although_the_offsets_of_the_cleaner_cannot_be_written() -> None:
    disk = SimulatedDisk()
    directory = with_records(disk)
    directory.cleaner_offsets.advance(ORDERS, START)
    checkpoint = f"/logs/{OffsetCheckpointName.CLEANER_OFFSET}"
    disk.faults.fail(f"{checkpoint}.tmp", Operation.WRITE, error=errno.ENOSPC)
    set_aside(directory)
    disk.faults.heal(f"{checkpoint}.tmp")
    assert not directory.logs

    directory.create_log(ORDERS, Uuid(b"?" * 16), CONFIG, now_ms=0)

    checkpointed = OffsetCheckpoint(disk, "/logs", OffsetCheckpointName.CLEANER_OFFSET)
    assert checkpointed.read() == {}


@pytest.mark.parametrize("is_restored", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_no_power_loss_loses_the_log_or_brings_deleted_records_back(
    seed: int, is_restored: bool
) -> None:
    """At each change of the disk: while it is set aside, or while it is restored."""
    for changes in range(100):
        disk = SimulatedDisk()
        directory = with_records(disk)
        if is_restored:
            set_aside(directory)
        disk.faults.power_off_after(changes)
        was_complete = False
        with suppress(PowerLost):
            if is_restored:
                restore(directory)
            else:
                set_aside(directory)
            was_complete = True
        disk.faults.power_on()
        disk.crash(SeededDice(f"{seed} {changes}"))

        directory = opened(disk)
        if not directory.logs:
            restore(directory)

        assert offsets(directory) in [(START, RECORDS, RECORDS), (START, 0, RECORDS)], changes
        if was_complete:
            return
    pytest.fail("it takes more than a hundred changes")
