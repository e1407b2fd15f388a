from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from ottla.model import ErrorCode, KafkaError
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.dice import SeededDice
from ottla.storage.files.file_names import FileState
from ottla.storage.log.log import Log
from ottla.storage.log_config import NEVER_MS, UNLIMITED, LogConfig
from ottla.storage.segments.interrupted_work import segment_files
from tests.support.storage.batches import batch_of
from tests.support.storage.log_checks import assert_sound
from tests.support.storage.logs import (
    DIRECTORY,
    Checkpoints,
    append,
    base_offsets,
    new_log,
    opened,
    read_all,
)

SIZE = len(batch_of(b"v" * 50, b"v" * 50, key=b"k"))
DAY_MS = 24 * 3600 * 1000


def filled(
    disk: SimulatedDisk | None = None, *, committed: int | None = None, **config: Any
) -> Log:
    """Four segments of two batches of two records each; a batch every 100 ms."""
    config = {"segment_bytes": 2 * SIZE, "retention_ms": UNLIMITED} | config
    log = new_log(disk, **config)
    for number in range(8):
        append(log, batch_of(b"v" * 50, b"v" * 50, key=b"k", timestamp=1_000 + 100 * number))
    log.advance_high_watermark(16 if committed is None else committed)
    assert base_offsets(log) == [0, 4, 8, 12]
    return log


def expire(log: Log, *, now_ms: int = 2_000) -> list[int]:
    """The base offsets of the segments that went."""
    return [segment.base_offset for segment in log.delete_expired_segments(now_ms=now_ms)]


# ---- by time


@pytest.mark.parametrize(
    ("now_ms", "expired"), [(1_600, []), (1_601, [0]), (1_800, [0]), (1_801, [0, 4])]
)
def test_a_segment_expires_when_its_latest_record_does(now_ms: int, expired: list[int]) -> None:
    log = filled(retention_ms=500)

    assert expire(log, now_ms=now_ms) == expired
    assert log.log_start_offset == 4 * len(expired)
    assert_sound(log)


def test_a_young_segment_keeps_the_old_ones_after_it() -> None:
    log = new_log(segment_bytes=SIZE, retention_ms=500)
    for timestamp in (5_000, 1_000, 1_000):
        append(log, batch_of(b"v" * 50, b"v" * 50, timestamp=timestamp))
    log.advance_high_watermark(6)

    assert expire(log, now_ms=5_500) == []
    assert expire(log, now_ms=5_501) == [0, 2, 4]


def test_records_without_timestamps_expire_by_the_segments_age() -> None:
    log = new_log(segment_bytes=SIZE, retention_ms=500)
    for _ in range(2):
        append(log, batch_of(b"v" * 50, b"v" * 50, timestamp=-1), now_ms=10_000)
    log.advance_high_watermark(4)

    assert expire(log, now_ms=10_500) == []
    assert expire(log, now_ms=10_501) == [0, 2]


def test_the_active_segment_expires_too_and_another_takes_its_place() -> None:
    log = filled(retention_ms=500)

    assert expire(log, now_ms=DAY_MS) == [0, 4, 8, 12]

    assert base_offsets(log) == [16]
    assert (log.log_start_offset, log.log_end_offset) == (16, 16)
    assert append(log, batch_of(b"v")).first_offset == 16


def test_an_empty_active_segment_never_expires() -> None:
    log = new_log(retention_ms=1)

    assert expire(log, now_ms=DAY_MS) == []
    assert base_offsets(log) == [0]


@pytest.mark.parametrize("retention_ms", [UNLIMITED, NEVER_MS])
def test_without_a_limit_nothing_is_too_old(retention_ms: int) -> None:
    assert expire(filled(retention_ms=retention_ms), now_ms=1000 * DAY_MS) == []


# ---- by size


@pytest.mark.parametrize(
    ("retention_bytes", "expired"),
    [
        (UNLIMITED, []),
        (8 * SIZE, []),
        (6 * SIZE + 1, []),
        (6 * SIZE, [0]),
        (3 * SIZE, [0, 4]),
        (2 * SIZE, [0, 4, 8]),
        (1, [0, 4, 8]),
        (0, [0, 4, 8, 12]),
    ],
)
def test_segments_go_while_the_rest_is_not_too_small(
    retention_bytes: int, expired: list[int]
) -> None:
    assert expire(filled(retention_bytes=retention_bytes)) == expired


def test_the_stricter_of_both_limits_holds() -> None:
    log = filled(retention_ms=500, retention_bytes=6 * SIZE)

    assert expire(log, now_ms=1_801) == [0, 4]


# ---- what stays


@pytest.mark.parametrize(
    ("committed", "expired"), [(0, []), (3, []), (4, [0]), (11, [0, 4]), (12, [0, 4, 8])]
)
def test_nothing_goes_that_is_not_committed(committed: int, expired: list[int]) -> None:
    log = filled(committed=committed, retention_ms=0)

    assert expire(log, now_ms=DAY_MS) == expired


def test_a_compacted_topic_is_not_deleted_from_unless_it_says_so() -> None:
    limits: dict[str, Any] = {"retention_ms": 0, "retention_bytes": 0}

    assert expire(filled(delete=False, compact=True, **limits), now_ms=DAY_MS) == []
    assert expire(filled(delete=True, compact=True, **limits), now_ms=DAY_MS) == [0, 4, 8, 12]


# ---- DeleteRecords


def test_deleting_records_moves_the_start_of_the_log() -> None:
    log = filled()

    log.delete_records_before(6)

    assert log.log_start_offset == 6
    assert base_offsets(log) == [0, 4, 8, 12]
    with pytest.raises(KafkaError) as error:
        log.read(5, bytes_max=100, upper_offset=16)
    assert error.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("offset", "expired"), [(3, []), (4, [0]), (6, [0]), (12, [0, 4, 8]), (16, [0, 4, 8, 12])]
)
def test_segments_below_the_start_go_whatever_the_policy(offset: int, expired: list[int]) -> None:
    log = filled(delete=False, compact=True)
    log.delete_records_before(offset)

    assert expire(log) == expired
    assert log.log_start_offset == offset
    assert_sound(log)


def test_the_start_never_moves_back() -> None:
    log = filled()
    log.delete_records_before(6)

    log.delete_records_before(3)

    assert log.log_start_offset == 6


def test_what_is_not_committed_cannot_be_deleted() -> None:
    log = filled(committed=5)

    with pytest.raises(KafkaError) as error:
        log.delete_records_before(6)

    assert error.value.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.log_start_offset == 0


def test_epochs_of_deleted_records_are_forgotten() -> None:
    log = new_log()
    for epoch in range(3):
        append(log, batch_of(b"a", b"b"), epoch=epoch)
    log.advance_high_watermark(6)

    log.delete_records_before(3)

    assert list(log.epochs.entries) == [(1, 3), (2, 4)]


def test_producers_outlive_their_records() -> None:
    log = new_log(segment_bytes=SIZE, retention_ms=0)
    for sequence in range(3):
        append(log, batch_of(b"v" * 50, producer_id=7, sequence=sequence))
    log.advance_high_watermark(3)
    expire(log, now_ms=DAY_MS)
    assert log.log_start_offset == 3

    assert append(log, batch_of(b"v" * 50, producer_id=7, sequence=2)).is_duplicate
    assert append(log, batch_of(b"v", producer_id=7, sequence=3)).first_offset == 3


# ---- files


def test_files_wait_for_readers_before_they_are_removed() -> None:
    disk = SimulatedDisk()
    log = filled(disk, retention_ms=500, file_delete_delay_ms=60_000)
    reading = log.read(0, bytes_max=1 << 20, upper_offset=16)
    assert reading is not None
    before = reading.read()

    expire(log, now_ms=1_601)

    assert {name.base_offset for name in segment_files(disk, DIRECTORY) if name.state} == {0}
    log.retired.purge(now_ms=61_600)
    assert reading.read() == before
    log.retired.purge(now_ms=61_601)
    assert not any(name.state for name in segment_files(disk, DIRECTORY))
    assert len(log.retired) == 0


def test_without_a_delay_files_go_at_once() -> None:
    disk = SimulatedDisk()
    log = filled(disk, retention_ms=500, file_delete_delay_ms=0)

    expire(log, now_ms=1_601)

    assert all(name.state is FileState.LIVE for name in segment_files(disk, DIRECTORY))


def test_closing_removes_the_files_that_wait() -> None:
    disk = SimulatedDisk()
    log = filled(disk, retention_ms=500, file_delete_delay_ms=60_000)
    expire(log, now_ms=1_601)

    log.close()

    assert not any(name.state for name in segment_files(disk, DIRECTORY))


@pytest.mark.parametrize("changes", range(6, 13))
def test_a_log_never_forgets_its_offsets_with_its_records(changes: int) -> None:
    for seed in range(40):
        disk = SimulatedDisk()
        log = new_log(disk, retention_ms=500)
        append(log, batch_of(b"a", b"b"))
        log.advance_high_watermark(2)
        log.flush()
        Checkpoints(disk).write(log)
        disk.faults.power_off_after(changes)
        with suppress(PowerLost):
            expire(log, now_ms=DAY_MS)
        disk.crash(SeededDice(seed))

        assert opened(disk, LogConfig()).log_end_offset == 2


@pytest.mark.parametrize("seed", range(30))
def test_expired_records_do_not_come_back_after_power_loss(seed: int) -> None:
    disk = SimulatedDisk()
    log = filled(disk, retention_ms=500)
    log.flush()
    Checkpoints(disk).write(log)
    expire(log, now_ms=1_801)
    left = read_all(log)
    disk.crash(SeededDice(seed))

    log = opened(disk, LogConfig())

    assert log.log_start_offset == 8
    assert read_all(log) == left
