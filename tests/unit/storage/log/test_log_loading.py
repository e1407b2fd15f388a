"""Opening a log: after a clean shutdown without a scan, and after anything else with suspicion."""

from __future__ import annotations

import pytest

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.errors import StorageError
from ottla.storage.files.file_names import FileKind
from ottla.storage.log.log import Log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import (
    assert_only_files_of_segments,
    assert_sound,
    directory_content,
)
from tests.support.storage.logs import (
    DIRECTORY,
    NOW_MS,
    Checkpoints,
    append,
    base_offsets,
    end_transaction,
    opened,
    read_all,
)

CONFIG = LogConfig(segment_bytes=1_000, index_interval_bytes=100)


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


def written(disk: SimulatedDisk, *, count: int = 30, config: LogConfig = CONFIG) -> Log:
    log = opened(disk, config, clean=True)
    for number in range(count):
        append(
            log,
            batch_of(b"%d" % number * 20, producer_id=number % 3, sequence=number // 3),
            epoch=number // 10,
        )
    return log


def test_a_missing_directory_content_becomes_an_empty_log(disk: SimulatedDisk) -> None:
    log = opened(disk, CONFIG)

    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (0, 0, 0)
    assert disk.list_directory(DIRECTORY) == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
    ]


def test_an_empty_log_survives_power_loss(disk: SimulatedDisk) -> None:
    opened(disk, CONFIG, clean=True)
    before = disk.list_directory(DIRECTORY)
    disk.crash(SeededDice(0))

    assert disk.list_directory(DIRECTORY) == before


def test_a_cleanly_closed_log_opens_as_it_was(disk: SimulatedDisk) -> None:
    log = written(disk)
    before, epochs = read_all(log), list(log.epochs.entries)
    log.close()

    log = opened(disk, CONFIG, clean=True)

    assert read_all(log) == before
    assert list(log.epochs.entries) == epochs == [(0, 0), (1, 10), (2, 20)]
    entries = log.producers.state.entries.values()
    assert [entry.last_sequence for entry in entries] == [9, 9, 9]
    assert log.recovery_point == log.log_end_offset == 30
    assert append(log, batch_of(b"v", producer_id=2, sequence=10), epoch=2).first_offset == 30
    assert_sound(log)


def test_opening_a_cleanly_closed_log_reads_little_of_it(disk: SimulatedDisk) -> None:
    config = LogConfig(segment_bytes=1 << 20)
    log = written(disk, count=5_000, config=config)
    size = log.segments.active.size
    assert size > 200_000
    log.close()
    disk.counters = DiskCounters()

    opened(disk, config, clean=True)

    assert disk.counters.bytes_read < 20_000
    assert disk.counters.writes == 0


def test_opening_many_segments_opens_files_of_the_last_only(disk: SimulatedDisk) -> None:
    written(disk, count=200).close()
    disk.counters = DiskCounters()

    log = opened(disk, CONFIG, clean=True)

    assert len(log.segments) > 20
    # Two checkpoints, epochs, a snapshot, and the log with its two indexes.
    assert disk.counters.opens <= 7


@pytest.mark.parametrize("kind", [FileKind.OFFSET_INDEX, FileKind.TIME_INDEX])
@pytest.mark.parametrize("base_offset", [11, 29])
def test_a_missing_index_is_built_again(
    disk: SimulatedDisk, kind: FileKind, base_offset: int
) -> None:
    log = written(disk)
    assert base_offset in base_offsets(log)
    before = read_all(log)
    log.close()
    Checkpoints(disk).write(log)
    disk.remove(f"{DIRECTORY}/{base_offset:020}{kind}")

    log = opened(disk, CONFIG, clean=True)

    assert read_all(log) == before
    assert_sound(log)


@pytest.mark.parametrize("content", [bytes(16), b"\x00\x00\x00\x01\x00\x01\x00\x00", b"odd"])
def test_an_offset_index_that_cannot_be_is_built_again(disk: SimulatedDisk, content: bytes) -> None:
    log = written(disk)
    path = log.segments.active.path(FileKind.OFFSET_INDEX)
    before = read_all(log)
    log.close()
    Checkpoints(disk).write(log)
    file = disk.open(path)
    file.truncate(0)
    file.write_at(0, [content])

    log = opened(disk, CONFIG, clean=True)

    assert read_all(log) == before
    assert_sound(log)


def test_indexes_without_a_log_go(disk: SimulatedDisk) -> None:
    written(disk).close()
    for kind in (FileKind.OFFSET_INDEX, FileKind.TIME_INDEX, FileKind.TRANSACTION_INDEX):
        disk.open(f"{DIRECTORY}/{1234:020}{kind}", create=True)

    log = opened(disk, CONFIG, clean=True)

    assert_only_files_of_segments(disk, log)
    assert log.log_end_offset == 30


def test_a_corrupt_epoch_checkpoint_is_read_from_the_batches(disk: SimulatedDisk) -> None:
    written(disk).close()
    file = disk.open(f"{DIRECTORY}/leader-epoch-checkpoint")
    file.truncate(0)
    file.write_at(0, [b"nonsense\n"])

    log = opened(disk, CONFIG, clean=True)

    assert list(log.epochs.entries) == [(0, 0), (1, 10), (2, 20)]


@pytest.mark.parametrize("damage", ["gone", "rotten"])
def test_producers_are_replayed_where_the_last_snapshot_is_no_use(
    disk: SimulatedDisk, damage: str
) -> None:
    log = written(disk)
    end_transaction(log, producer_id=9, commit=True, epoch=2)
    entries = dict(log.producers.state.entries)
    log.close()
    path = f"{DIRECTORY}/{31:020}.snapshot"
    if damage == "gone":
        disk.remove(path)
    else:
        disk.rot(path, SeededDice(1))

    log = opened(disk, CONFIG, clean=True)

    assert set(log.producers.state.entries) == set(entries) == {0, 1, 2, 9}
    assert log.producers.state.entries[2].last_sequence == 9


def test_snapshots_that_begin_no_segment_do_not_pile_up(disk: SimulatedDisk) -> None:
    config = LogConfig()
    log = opened(disk, config, clean=True)
    for _ in range(5):
        append(log, batch_of(b"v"))
        log.close()
        log = opened(disk, config, clean=True)

    snapshots = [name for name in disk.list_directory(DIRECTORY) if name.endswith(".snapshot")]
    assert snapshots == ["00000000000000000005.snapshot"]


def test_the_log_start_offset_may_be_inside_a_segment(disk: SimulatedDisk) -> None:
    log = written(disk)
    log.advance_high_watermark(30)
    log.delete_records_before(13)
    log.close()
    Checkpoints(disk).write(log)

    log = opened(disk, CONFIG, clean=True)

    assert log.log_start_offset == 13
    assert list(log.epochs.entries) == [(1, 13), (2, 20)]


def test_records_that_were_deleted_do_not_come_back_with_a_shorter_log(
    disk: SimulatedDisk,
) -> None:
    log = written(disk)
    log.advance_high_watermark(30)
    log.delete_records_before(25)
    Checkpoints(disk).write(log)
    for seed in range(100):
        disk.crash(SeededDice(seed))
        log = opened(disk, CONFIG)
        assert log.log_start_offset == 25
        assert 25 <= log.log_end_offset <= 30
        assert_sound(log)


def test_what_recovery_derived_is_durable_before_its_recovery_point(disk: SimulatedDisk) -> None:
    written(disk)
    disk.kill()
    log = opened(disk, CONFIG)
    assert log.recovery_point == 30
    Checkpoints(disk).write(log)
    disk.crash(SeededDice(3))

    log = opened(disk, CONFIG)

    assert list(log.epochs.entries) == [(0, 0), (1, 10), (2, 20)]
    assert log.producers.state.entries[2].last_sequence == 9
    assert_sound(log)


def test_the_second_recovery_of_a_log_without_records_changes_nothing(disk: SimulatedDisk) -> None:
    log = written(disk)
    log.roll(now_ms=NOW_MS)
    log.flush()
    log.advance_high_watermark(30)
    log.delete_records_before(30)
    Checkpoints(disk).write(log)
    disk.kill()
    opened(disk, CONFIG)
    content = directory_content(disk, DIRECTORY)
    disk.kill()

    opened(disk, CONFIG)

    assert directory_content(disk, DIRECTORY) == content


def test_segments_that_overlap_below_the_recovery_point_are_refused(disk: SimulatedDisk) -> None:
    log = written(disk)
    log.flush()
    Checkpoints(disk).write(log)
    disk.kill()
    disk.remove(f"{DIRECTORY}/{20:020}{FileKind.OFFSET_INDEX}")
    disk.open(f"{DIRECTORY}/{25:020}{FileKind.LOG}", create=True)

    with pytest.raises(StorageError, match="begins before offset 29"):
        opened(disk, CONFIG)


@pytest.mark.parametrize("seed", range(10))
def test_a_process_that_died_left_names_that_recovery_makes_durable(
    disk: SimulatedDisk, seed: int
) -> None:
    log = written(disk)
    log.close()
    Checkpoints(disk).write(log)
    log = opened(disk, CONFIG, clean=True)
    log.roll(now_ms=NOW_MS)
    disk.kill()
    log = opened(disk, CONFIG)
    append(log, batch_of(b"v"), epoch=2)
    log.flush()
    Checkpoints(disk).write(log)
    disk.crash(SeededDice(seed))

    assert opened(disk, CONFIG).log_end_offset == 31


def test_producers_that_were_idle_too_long_are_forgotten(disk: SimulatedDisk) -> None:
    written(disk).close()

    log = opened(disk, CONFIG, clean=True, now_ms=NOW_MS + CONFIG.producer_id_expiration_ms)

    assert not log.producers.state.entries
