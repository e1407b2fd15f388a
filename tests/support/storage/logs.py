"""Logs for tests: opened in few words, with an owner that keeps what their directory would."""

from __future__ import annotations

from typing import Any

from ottla.model import LeaderEpoch, Offset, ProducerEpoch, ProducerId, TimestampMs, TopicPartition
from ottla.runtime.disk import Disk
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.files.durable_file import make_directories
from ottla.storage.log.append_result import AppendResult
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log_config import LogConfig
from ottla.wire.records.batch import assign_offset_and_epoch, iterate_batches
from ottla.wire.records.control import (
    ControlRecordType,
    EndTransactionMarker,
    end_transaction_batch,
)
from tests.support.storage.batches import batch_of

PARTITION = TopicPartition("t", 0)
DATA = "/data"
DIRECTORY = f"{DATA}/{PARTITION}"
NOW_MS = 10_000


class Checkpoints:
    """The recovery point and log start of one log, in the files that a log directory has."""

    def __init__(self, disk: Disk, data: str = DATA) -> None:
        make_directories(disk, data)
        self._recovery_points = OffsetCheckpoint(disk, data, OffsetCheckpointName.RECOVERY_POINT)
        self._log_starts = OffsetCheckpoint(disk, data, OffsetCheckpointName.LOG_START_OFFSET)

    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        self._recovery_points.write({partition: recovery_point})

    def write(self, log: Log) -> None:
        self._recovery_points.write({PARTITION: log.recovery_point})
        self._log_starts.write({PARTITION: log.log_start_offset})

    @property
    def recovery_point(self) -> int:
        return self._recovery_points.read().get(PARTITION, 0)

    @property
    def log_start_offset(self) -> int:
        return self._log_starts.read().get(PARTITION, 0)


def opened(
    disk: Disk, config: LogConfig, *, clean: bool = False, now_ms: int = NOW_MS, data: str = DATA
) -> Log:
    """Opens the log as its directory would, with what the checkpoints say."""
    make_directories(disk, f"{data}/{PARTITION}")
    checkpoints = Checkpoints(disk, data)
    return open_log(
        disk,
        f"{data}/{PARTITION}",
        PARTITION,
        config,
        recovery_points=checkpoints,
        now_ms=now_ms,
        log_start_offset=checkpoints.log_start_offset,
        recovery_point=checkpoints.recovery_point,
        had_clean_shutdown=clean,
    )


def new_log(disk: SimulatedDisk | None = None, **config: Any) -> Log:
    """An empty log with these configs, on a simulated disk of its own unless one is given."""
    return opened(disk or SimulatedDisk(), LogConfig(**config), clean=True)


def append(
    log: Log, batch: bytearray | bytes, *, epoch: int = 0, now_ms: int = NOW_MS
) -> AppendResult:
    return log.append_as_leader(batch, leader_epoch=epoch, now_ms=now_ms)


def end_transaction(
    log: Log,
    *,
    producer_id: int,
    commit: bool,
    producer_epoch: int = 0,
    coordinator_epoch: int = 0,
    epoch: int = 0,
) -> AppendResult:
    return log.append_as_leader(
        marker(
            producer_id=producer_id,
            commit=commit,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
        ),
        leader_epoch=epoch,
        now_ms=NOW_MS,
        origin=Origin.COORDINATOR,
    )


def marker(
    *,
    producer_id: int,
    commit: bool,
    producer_epoch: int = 0,
    coordinator_epoch: int = 0,
    timestamp: int = NOW_MS,
) -> bytearray:
    kind = ControlRecordType.COMMIT if commit else ControlRecordType.ABORT
    return end_transaction_batch(
        EndTransactionMarker(kind, coordinator_epoch),
        producer_id=ProducerId(producer_id),
        producer_epoch=ProducerEpoch(producer_epoch),
        timestamp=TimestampMs(timestamp),
    )


def as_leader_has_it(batch: bytearray, *, base_offset: int, epoch: int = 0) -> bytearray:
    """A batch with its place in a leader's log."""
    assign_offset_and_epoch(
        batch, 0, base_offset=Offset(base_offset), leader_epoch=LeaderEpoch(epoch)
    )
    return batch


def fetched(*sizes: int, start: int = 0, epoch: int = 0) -> bytearray:
    """Batches as a leader sends them."""
    found = bytearray()
    for size in sizes:
        found += as_leader_has_it(batch_of(b"v" * size), base_offset=start, epoch=epoch)
        start += 1
    return found


def read_all(log: Log, *, start: int | None = None, bytes_max: int = 1 << 20) -> bytes:
    """What a consumer gets who reads from `start` to the end, fetch after fetch."""
    offset = log.log_start_offset if start is None else start
    found = b""
    while fetched := log.read(offset, bytes_max=bytes_max, upper_offset=log.log_end_offset):
        data = fetched.read()
        whole = list(iterate_batches(data))
        assert whole, "a fetch has one whole batch at least"
        position, last = whole[-1]
        found += data[: position + last.size_in_bytes]
        offset = last.next_offset
    assert offset == log.log_end_offset, f"reading ended at {offset}, the log at its end"
    return found


def base_offsets(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]
