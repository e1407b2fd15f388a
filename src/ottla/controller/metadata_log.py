"""`__cluster_metadata-0`: the log that holds the state of the cluster, and its snapshots.

The files are Kafka's own: segments of record batches, leader epochs, `.checkpoint` snapshots. The
quorum (quorum.py) decides what is appended, truncated and committed. Offsets of a replica:

    log start <= committed_offset <= log_end_offset
                 flushed_end_offset <= log_end_offset

Two snapshots are kept, and the log from the end of the earlier one on, so that nothing is lost if
one snapshot is corrupt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ottla.controller.received_snapshot import ReceivedSnapshot
from ottla.controller.record_batches import (
    DecodedBatch,
    decode_batch,
    encode_control_batch,
    encode_operation,
)
from ottla.controller.snapshot_file import Snapshot, SnapshotId, SnapshotVoters
from ottla.controller.snapshots import Snapshots
from ottla.metadata import MetadataImage
from ottla.model import Buffer, TopicPartition, Uuid
from ottla.raft import ControlRecord, OffsetAndEpoch, SnapshotChunk
from ottla.runtime.disk import Disk
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.directories.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.storage.epochs.epoch_cache import UNDEFINED_OFFSET
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.log.flush import Flush
from ottla.storage.log.log import Log
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches
from ottla.wire.schema import Message

METADATA_PARTITION: Final = TopicPartition("__cluster_metadata", 0)
METADATA_TOPIC_ID: Final = Uuid(bytes(15) + b"\x01")

_SNAPSHOTS_KEPT: Final = 2
_READ_BYTES: Final = 1 << 20
_SNAPSHOT_WORTH_BYTES: Final = 1 << 20
_SNAPSHOT_WORTH_TIMES: Final = 4


class MetadataLogConfig(NamedTuple):
    """The names and defaults are Kafka's."""

    log_segment_bytes: int = 1 << 30
    max_record_bytes_between_snapshots: int = 20 << 20


class RecoveryPoint:
    """The offset up to which the log is known to be flushed, in a checkpoint in its own directory.

    Kafka has no recovery point for this log: after a crash or disk corruption it takes the
    remaining records for the complete log. Kafka ignores this file.
    """

    def __init__(self, disk: Disk, directory: str) -> None:
        self._file = OffsetCheckpoint(disk, directory, OffsetCheckpointName.RECOVERY_POINT)

    def read(self) -> int:
        return self._file.read().get(METADATA_PARTITION, 0)

    def write(self, offset: int) -> None:
        self._file.write({METADATA_PARTITION: offset})

    def lower(self, partition: TopicPartition, recovery_point: int) -> None:
        assert partition == METADATA_PARTITION
        self.write(recovery_point)


class MetadataLog:
    """Created by `metadata_log_loading.open_metadata_log`, closed by `close`. Owned by one thread.

    Implements the `ReplicatedLog` of the quorum. Flushes and snapshots are values that a worker can
    run; the `complete_...` methods then record the result. An `OSError` from any method means that
    the disk failed or is full.
    """

    def __init__(
        self,
        disk: Disk,
        directory: str,
        config: MetadataLogConfig,
        *,
        log: Log,
        snapshots: Snapshots,
        recovery_point: RecoveryPoint,
    ) -> None:
        self.directory = directory
        self.bytes_since_snapshot = 0
        self._disk = disk
        self._config = config
        self._log = log
        self._snapshots = snapshots
        self._recovery_point = recovery_point
        self._last_timestamp = 0
        self._is_snapshot_under_way = False
        self._received: ReceivedSnapshot | None = None
        latest = snapshots.ids[-1:]
        self._snapshot_bytes = disk.file_size(snapshots.path(latest[0])) if latest else 0

    # ---- `ReplicatedLog`

    @property
    def start(self) -> OffsetAndEpoch:
        offset = self._log.log_start_offset
        epochs = [each.epoch for each in self._snapshots.ids if each.end_offset == offset]
        return OffsetAndEpoch(offset, max(epochs, default=0))

    @property
    def end(self) -> OffsetAndEpoch:
        epoch = self._log.epochs.latest_epoch
        return OffsetAndEpoch(self.log_end_offset, self.start.epoch if epoch is None else epoch)

    @property
    def flushed_end_offset(self) -> int:
        return self._log.recovery_point

    def end_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        found = self._log.epochs.end_offset_for(epoch=epoch, log_end_offset=self.log_end_offset)
        if found.end_offset == UNDEFINED_OFFSET or found.end_offset < self.start.offset:
            return self.start
        return OffsetAndEpoch(found.end_offset, found.epoch)

    @property
    def latest_snapshot_id(self) -> OffsetAndEpoch | None:
        ids = self._snapshots.ids
        return OffsetAndEpoch(*ids[-1]) if ids else None

    def snapshot_size(self, snapshot_id: OffsetAndEpoch) -> int | None:
        snapshot = SnapshotId(*snapshot_id)
        if snapshot not in self._snapshots.ids:
            return None
        return self._disk.file_size(self._snapshots.path(snapshot))

    # ---- reading

    @property
    def log_end_offset(self) -> int:
        return self._log.log_end_offset

    @property
    def committed_offset(self) -> int:
        """As far as this replica knows."""
        return self._log.high_watermark

    def read(self, offset: int, *, bytes_max: int) -> FileSlice:
        """Whole batches starting at an offset, at least one."""
        piece = self._log.read(offset, bytes_max=bytes_max, upper_offset=self.log_end_offset)
        assert piece is not None, f"{self._log} has no records at offset {offset}"
        return piece

    def read_snapshot(self, snapshot_id: OffsetAndEpoch, position: int, bytes_max: int) -> bytes:
        file = self._disk.open_readonly(self._snapshots.path(SnapshotId(*snapshot_id)))
        try:
            return file.read_at(position, bytes_max)
        finally:
            file.close()

    def read_from(self, offset: int) -> Iterator[DecodedBatch]:
        """All batches from an offset to the end of the log. Counts their bytes and timestamps, as
        needed when the log is opened."""
        end = self.log_end_offset
        while offset < end:
            piece = self.read(offset, bytes_max=_READ_BYTES)
            data = memoryview(piece.read())
            for position, header in iterate_batches(data):
                try:
                    batch = decode_batch(data[position : position + header.size_in_bytes])
                except ProtocolError as error:
                    at = piece.position + position
                    raise CorruptLogError(
                        piece.file.path, position=at, reason=str(error)
                    ) from error
                self._note(batch.header.max_timestamp, header.size_in_bytes)
                offset = header.next_offset
                yield batch

    # ---- writing

    def append(
        self, records: Sequence[Message], *, epoch: int, metadata_version: int, now_ms: int
    ) -> None:
        """Appends the records of one operation: either all, or none and an error."""
        start = self.log_end_offset
        batches = encode_operation(
            records, metadata_version=metadata_version, base_offset=start, now_ms=now_ms
        )
        try:
            for batch in batches:
                self._append(batch, epoch, now_ms)
        except OSError:
            self.truncate_to(start, now_ms=now_ms)
            raise

    def append_control(
        self, records: Sequence[Message], *, epoch: int, now_ms: int
    ) -> list[ControlRecord]:
        """Appends control records as one batch, and returns them with their offsets."""
        start = self.log_end_offset
        batch = encode_control_batch(records, base_offset=start, leader_epoch=epoch, now_ms=now_ms)
        self._append(batch, epoch, now_ms)
        return [ControlRecord(start + at, record) for at, record in enumerate(records)]

    def append_fetched(self, batches: Buffer, *, epoch: int, now_ms: int) -> int:
        """Appends batches fetched from the leader of this epoch, and returns the new end offset."""
        end = self._log.append_as_follower(batches, leader_epoch=epoch, now_ms=now_ms)
        self._note(now_ms, len(batches))
        return end

    def truncate_to(self, offset: int, *, now_ms: int) -> None:
        """Removes the records at this offset and above, durably."""
        assert offset >= self.committed_offset, "committed records are not truncated"
        self._log.truncate_to(offset, now_ms=now_ms)

    def commit(self, offset: int) -> None:
        """All records below the offset are committed."""
        self._log.advance_high_watermark(offset)

    def _append(self, batch: bytearray, epoch: int, now_ms: int) -> None:
        self._log.append_as_leader(
            batch, leader_epoch=epoch, now_ms=now_ms, origin=Origin.COORDINATOR
        )
        self._note(now_ms, len(batch))

    def _note(self, timestamp: int, size: int) -> None:
        self._last_timestamp = max(self._last_timestamp, timestamp)
        self.bytes_since_snapshot += size

    # ---- durability

    def prepare_flush(self) -> Flush | None:
        return self._log.prepare_flush()

    def complete_flush(self, flush: Flush) -> None:
        self._log.complete_flush(flush)

    def flush(self) -> None:
        """Flushes synchronously."""
        self._log.flush()

    # ---- snapshots

    @property
    def is_snapshot_due(self) -> bool:
        """After the configured number of bytes, or earlier if they are a multiple of the size of
        the last snapshot: a restart reads both, so this bounds the time for reading the log."""
        worth_it = max(_SNAPSHOT_WORTH_BYTES, _SNAPSHOT_WORTH_TIMES * self._snapshot_bytes)
        limit = min(self._config.max_record_bytes_between_snapshots, worth_it)
        return self.bytes_since_snapshot >= limit and not self._is_snapshot_under_way

    def prepare_snapshot(
        self, image: MetadataImage, offset: int, voters: SnapshotVoters | None, *, now_ms: int
    ) -> Snapshot | None:
        """A snapshot of the image of all records below an offset, which are committed. The caller
        runs `Snapshot.write` in any thread, then calls `complete_snapshot` or, on failure,
        `abandon_snapshot`."""
        epoch = self._log.epochs.epoch_for_offset(offset - 1)
        if epoch is None or (snapshot := SnapshotId(offset, epoch)) in self._snapshots.ids:
            return None
        self._is_snapshot_under_way = True
        self.bytes_since_snapshot = 0
        return Snapshot(
            disk=self._disk,
            path=self._snapshots.path(snapshot),
            id=snapshot,
            records=image.copy(),
            metadata_version=image.metadata_version,
            voters=voters,
            last_contained_log_timestamp=self._last_timestamp,
            now_ms=now_ms,
        )

    def complete_snapshot(self, snapshot: Snapshot, *, now_ms: int) -> None:
        """Deletes what the snapshot makes obsolete: older snapshots, and the log below the earliest
        one that is kept."""
        self._is_snapshot_under_way = False
        if snapshot.id.end_offset < self._log.log_start_offset:
            # A later snapshot from the leader was installed in the meantime.
            return
        self._recovery_point.write(self.flushed_end_offset)
        self._snapshots.add(snapshot.id)
        self._snapshot_bytes = self._disk.file_size(snapshot.path)
        earliest = self._snapshots.keep_latest(_SNAPSHOTS_KEPT)
        self._log.roll(now_ms=now_ms)
        self._log.delete_records_before(earliest.end_offset)
        self._log.delete_expired_segments(now_ms=now_ms)

    def abandon_snapshot(self) -> None:
        self._is_snapshot_under_way = False

    def receive_snapshot(self, chunk: SnapshotChunk) -> str | None:
        """Writes a chunk of the leader's snapshot. After the last chunk, returns the path of the
        file: the caller validates it and calls `install_snapshot`."""
        if chunk.position == 0:
            self._discard_received()
            path = self._snapshots.path(SnapshotId(*chunk.id))
            self._received = ReceivedSnapshot(self._disk, path)
        assert self._received is not None, "a snapshot begins at position 0"
        self._received.write(chunk.position, chunk.data)
        return self._received.partial_path if chunk.is_last else None

    def install_snapshot(self, snapshot_id: OffsetAndEpoch, *, now_ms: int) -> None:
        """Replaces the whole log with the received snapshot, durably."""
        assert self._received is not None, "a snapshot is received before"
        self._received.complete()
        self._received = None
        snapshot = SnapshotId(*snapshot_id)
        self._snapshots.add(snapshot)
        self._log.truncate_fully(snapshot.end_offset, now_ms=now_ms)
        self._snapshots.keep_latest(1)
        self._snapshot_bytes = self._disk.file_size(self._snapshots.path(snapshot))
        self.bytes_since_snapshot = 0

    def _discard_received(self) -> None:
        if self._received is not None:
            self._received.discard()
            self._received = None

    def close(self) -> None:
        self._discard_received()
        self._log.close()
        self._recovery_point.write(self.flushed_end_offset)

    def abandon(self) -> None:
        """Closes all files as they are."""
        self._log.abandon()
