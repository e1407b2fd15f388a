from __future__ import annotations

import pytest

from ottla.simulation.disk.counters import DiskCounters
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import FileKind
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import (
    aborted_in,
    all_batches,
    assert_only_files_of_segments,
    assert_producers_are,
    assert_sound,
    replayed,
)
from tests.support.storage.logs import (
    DIRECTORY,
    Checkpoints,
    append,
    base_offsets,
    end_transaction,
    opened,
)

SIZE = len(batch_of(b"v" * 50, b"v" * 50))
CONFIG = LogConfig(segment_bytes=4 * SIZE, index_interval_bytes=SIZE)


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def log(disk: SimulatedDisk) -> Log:
    """Ten batches of two records, four to a segment; nothing is flushed."""
    log = opened(disk, CONFIG, clean=True)
    for number in range(10):
        append(
            log,
            batch_of(*[bytes([number]) * 50] * 2, producer_id=number % 2, sequence=number // 2 * 2),
            epoch=number // 3,
        )
    assert base_offsets(log) == [0, 8, 16]
    return log


def damage(disk: SimulatedDisk, base_offset: int, *, position: int, data: bytes) -> None:
    file = disk.open(f"{DIRECTORY}/{base_offset:020}{FileKind.LOG}")
    file.write_at(position, [data])
    file.close()


def recovered(disk: SimulatedDisk) -> Log:
    disk.kill()
    log = opened(disk, CONFIG)
    assert_sound(log)
    assert_producers_are(log, replayed([batch.data for batch in all_batches(log)]))
    assert_only_files_of_segments(disk, log)
    return log


def test_a_log_that_only_lost_its_process_is_whole(disk: SimulatedDisk, log: Log) -> None:
    before = [batch.data for batch in all_batches(log)]

    log = recovered(disk)

    assert [batch.data for batch in all_batches(log)] == before
    assert list(log.epochs.entries) == [(0, 0), (1, 6), (2, 12), (3, 18)]
    assert log.recovery_point == log.log_end_offset == 20


@pytest.mark.parametrize(
    ("position", "data"),
    [
        pytest.param(2 * SIZE, b"half of a batch", id="a torn write"),
        pytest.param(2 * SIZE, bytes(1_000), id="zeros, where only the size arrived"),
        pytest.param(SIZE + 100, b"\xff", id="a damaged body"),
        pytest.param(SIZE + 16, b"\x05", id="a magic that never was"),
        pytest.param(SIZE + 8, b"\x7f", id="a length past the end"),
        pytest.param(SIZE, bytes(8), id="an offset that was before"),
    ],
)
def test_the_last_segment_is_cut_where_it_is_not_sound(
    disk: SimulatedDisk, log: Log, position: int, data: bytes
) -> None:
    before = [batch.data for batch in all_batches(log)]
    damage(disk, 16, position=position, data=data)

    log = recovered(disk)

    kept = 8 + min(position // SIZE, 2)
    assert [batch.data for batch in all_batches(log)] == before[:kept]
    assert append(log, batch_of(b"v"), epoch=5).first_offset == 2 * kept


def test_segments_after_a_cut_go(disk: SimulatedDisk, log: Log) -> None:
    damage(disk, 8, position=2 * SIZE + 70, data=b"\xff")

    log = recovered(disk)

    assert base_offsets(log) == [0, 8]
    assert log.log_end_offset == 12
    assert list(log.epochs.entries) == [(0, 0), (1, 6)]


def test_segments_after_a_missing_one_go(disk: SimulatedDisk, log: Log) -> None:
    for kind in (FileKind.LOG, FileKind.OFFSET_INDEX, FileKind.TIME_INDEX):
        disk.remove(f"{DIRECTORY}/{8:020}{kind}")

    log = recovered(disk)

    assert base_offsets(log) == [0]
    assert log.log_end_offset == 8


def test_segments_after_one_that_lost_its_last_batch_go(disk: SimulatedDisk, log: Log) -> None:
    file = disk.open(f"{DIRECTORY}/{8:020}{FileKind.LOG}")
    file.truncate(3 * SIZE)
    file.close()

    log = recovered(disk)

    assert base_offsets(log) == [0, 8]
    assert log.log_end_offset == 14


def recovered_after_compaction(disk: SimulatedDisk, log: Log, *, compacted_up_to: int) -> Log:
    disk.kill()
    return open_log(
        disk,
        DIRECTORY,
        log.partition,
        CONFIG,
        recovery_points=Checkpoints(disk),
        now_ms=0,
        compacted_up_to=compacted_up_to,
    )


@pytest.mark.parametrize(("compacted_up_to", "end"), [(8, 14), (15, 14), (16, 20)])
def test_a_gap_that_kafkas_compaction_left_is_none(
    disk: SimulatedDisk, log: Log, compacted_up_to: int, end: int
) -> None:
    file = disk.open(f"{DIRECTORY}/{8:020}{FileKind.LOG}")
    file.truncate(3 * SIZE)
    file.close()

    log = recovered_after_compaction(disk, log, compacted_up_to=compacted_up_to)

    assert log.log_end_offset == end
    assert_sound(log, gaps=True)


def test_a_cut_among_compacted_segments_is_no_gap(disk: SimulatedDisk, log: Log) -> None:
    damage(disk, 8, position=2 * SIZE + 70, data=b"\xff")

    log = recovered_after_compaction(disk, log, compacted_up_to=20)

    assert log.log_end_offset == 12


@pytest.mark.parametrize("seed", range(10))
def test_segments_that_were_dropped_do_not_fit_a_later_end(disk: SimulatedDisk, seed: int) -> None:
    log = opened(disk, CONFIG, clean=True)
    append(log, batch_of(b"a"))
    log.close()
    Checkpoints(disk).write(log)
    log = opened(disk, CONFIG, clean=True)
    for values in ([b"old", b"old"], [b"stale"]):
        log.roll(now_ms=0)
        append(log, batch_of(*values))
    assert base_offsets(log) == [0, 1, 3]
    log.flush()
    damage(disk, 1, position=70, data=b"\xff")
    log = recovered(disk)
    assert log.log_end_offset == 1

    append(log, batch_of(b"new", b"new"))
    log.flush()
    Checkpoints(disk).write(log)
    disk.crash(SeededDice(seed))

    assert opened(disk, CONFIG).log_end_offset == 3


@pytest.mark.parametrize("changes", range(25))
@pytest.mark.parametrize("seed", range(4))
def test_recovery_that_loses_power_on_its_way_leaves_no_hole(
    disk: SimulatedDisk, log: Log, changes: int, seed: int
) -> None:
    before = [batch.data for batch in all_batches(log)]
    for segment in log.segments:
        segment.flush()
        segment.sync()
    disk.flip_bit(f"{DIRECTORY}/{8:020}{FileKind.LOG}", position=2 * SIZE + 70, bit=0)
    disk.kill()
    disk.faults.power_off_after(changes)
    try:
        opened(disk, CONFIG)
    except PowerLost:
        disk.crash(SeededDice(seed))

    log = recovered(disk)

    assert [batch.data for batch in all_batches(log)] == before[:6]


def test_segments_below_the_recovery_point_are_not_read(disk: SimulatedDisk, log: Log) -> None:
    log.flush()
    Checkpoints(disk).write(log)
    damage(disk, 0, position=100, data=b"\xff")
    disk.kill()
    disk.counters = DiskCounters()

    log = opened(disk, CONFIG)

    assert log.log_end_offset == 20
    assert disk.counters.bytes_read < 6 * SIZE


def test_damage_below_the_recovery_point_keeps_the_log_closed(
    disk: SimulatedDisk, log: Log
) -> None:
    log.flush()
    Checkpoints(disk).write(log)
    damage(disk, 16, position=SIZE + 70, data=b"\xff")
    disk.kill()

    with pytest.raises(
        CorruptLogError, match="offsets 18 to 19 were flushed to this disk"
    ) as error:
        opened(disk, CONFIG)

    assert error.value.position == SIZE
    assert disk.file_size(f"{DIRECTORY}/{16:020}{FileKind.LOG}") == 2 * SIZE


def test_damage_above_the_recovery_point_does_not(disk: SimulatedDisk, log: Log) -> None:
    log.flush()
    Checkpoints(disk).write(log)
    append(log, batch_of(b"not safe"), epoch=3)
    damage(disk, 16, position=2 * SIZE + 70, data=b"\xff")

    assert recovered(disk).log_end_offset == 20


def test_aborted_transactions_are_indexed_again(disk: SimulatedDisk, log: Log) -> None:
    for producer_id in (7, 8):
        append(
            log,
            batch_of(b"v", producer_id=producer_id, sequence=0, is_transactional=True),
            epoch=3,
        )
    end_transaction(log, producer_id=8, commit=False, epoch=3)
    log.roll(now_ms=0)
    end_transaction(log, producer_id=7, commit=False, epoch=3)
    before = aborted_in(log)
    assert before == {22: (8, 21, 22, 20), 23: (7, 20, 23, 24)}

    log = recovered(disk)

    assert aborted_in(log) == before


def test_an_open_transaction_is_still_open(disk: SimulatedDisk, log: Log) -> None:
    append(log, batch_of(b"v", producer_id=7, sequence=0, is_transactional=True), epoch=3)
    log.flush()
    Checkpoints(disk).write(log)

    log = recovered(disk)
    log.advance_high_watermark(21)

    assert log.last_stable_offset == 20
    assert log.producers.state.has_ongoing_transaction(producer_id=7, producer_epoch=0)


def test_the_snapshot_at_the_recovery_point_spares_a_replay(disk: SimulatedDisk, log: Log) -> None:
    log.roll(now_ms=0)
    log.flush()
    Checkpoints(disk).write(log)
    append(log, batch_of(b"v", producer_id=0, sequence=10), epoch=3)
    disk.kill()
    disk.counters = DiskCounters()

    log = opened(disk, CONFIG)

    assert log.producers.state.entries[0].last_sequence == 10
    assert log.producers.state.entries[1].last_sequence == 9
    assert disk.counters.bytes_read < 6 * SIZE
