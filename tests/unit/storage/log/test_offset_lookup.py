from __future__ import annotations

import pytest

from ottla.model import Offset, TimestampMs, TopicPartition
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log.offset_lookup import FoundOffset, SpecialTimestamp, find_offset
from ottla.storage.log_config import LogConfig
from ottla.wire.records.builder import build_batch
from ottla.wire.records.compression import Codec
from ottla.wire.records.record import Record

# Three records a batch, ten apart, several batches a segment, one batch out of order.
BATCH_TIMES = [100, 200, 300, 250, 400, 500, 600]


class NoKeeper:
    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        raise AssertionError("nothing is truncated here")


@pytest.fixture
def log() -> Log:
    disk = SimulatedDisk()
    disk.make_directories("/logs/t-0")
    log = open_log(
        disk,
        "/logs/t-0",
        TopicPartition("t", 0),
        LogConfig(segment_bytes=250, index_interval_bytes=0),
        recovery_points=NoKeeper(),
        now_ms=0,
    )
    for number, time in enumerate(BATCH_TIMES):
        records = [
            Record(Offset(delta), TimestampMs(time + 10 * delta), None, b"v") for delta in range(3)
        ]
        codec = Codec.LZ4 if number % 2 else Codec.NONE
        log.append_as_leader(build_batch(records, codec=codec), leader_epoch=number, now_ms=1_000)
    assert len(log.segments) > 2
    return log


@pytest.mark.parametrize(
    ("timestamp", "found"),
    [
        (0, FoundOffset(100, 0, 0)),
        (100, FoundOffset(100, 0, 0)),
        (101, FoundOffset(110, 1, 0)),
        (121, FoundOffset(200, 3, 1)),
        (260, FoundOffset(300, 6, 2)),
        (321, FoundOffset(400, 12, 4)),
        (620, FoundOffset(620, 20, 6)),
        (621, None),
    ],
)
def test_the_first_record_that_is_not_earlier(
    log: Log, timestamp: int, found: FoundOffset | None
) -> None:
    assert find_offset(log, timestamp) == found


def test_deleted_records_are_not_found(log: Log) -> None:
    log.advance_high_watermark(21)
    log.delete_records_before(7)

    assert find_offset(log, 0) == FoundOffset(310, 7, 2)
    assert find_offset(log, SpecialTimestamp.EARLIEST) == FoundOffset(-1, 7, 2)


def test_special_timestamps(log: Log) -> None:
    assert find_offset(log, SpecialTimestamp.LATEST) == FoundOffset(-1, 21, 6)
    assert find_offset(log, SpecialTimestamp.EARLIEST) == FoundOffset(-1, 0, 0)
    assert find_offset(log, SpecialTimestamp.EARLIEST_LOCAL) == FoundOffset(-1, 0, 0)
    assert find_offset(log, SpecialTimestamp.MAX_TIMESTAMP) == FoundOffset(620, 20, 6)
    assert find_offset(log, SpecialTimestamp.LATEST_TIERED) == FoundOffset(-1, -1, -1)
    assert find_offset(log, SpecialTimestamp.EARLIEST_PENDING_UPLOAD) == FoundOffset(-1, -1, -1)


def test_an_empty_log_has_no_latest_timestamp() -> None:
    disk = SimulatedDisk()
    disk.make_directories("/logs/t-0")
    log = open_log(
        disk,
        "/logs/t-0",
        TopicPartition("t", 0),
        LogConfig(),
        recovery_points=NoKeeper(),
        now_ms=0,
    )

    assert find_offset(log, SpecialTimestamp.MAX_TIMESTAMP) is None
    assert find_offset(log, 0) is None
