"""`__cluster_metadata-0`: the log that the state of the cluster is made of, and its snapshots.

Kafka's own files: segments of record batches, leader epochs, `quorum-state`, `.checkpoint`
snapshots. This node is the quorum, so what it has synced is committed:

    log start <= committed_offset <= log_end_offset

Two snapshots are kept, and the log from the end of the earlier one on, so that a snapshot that
rots takes nothing with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ottla.controller.quorum_state_file import write_quorum_state
from ottla.controller.record_batches import (
    DecodedBatch,
    decode_batch,
    encode_control_batch,
    encode_operation,
)
from ottla.controller.snapshot_file import QuorumVoters, Snapshot, SnapshotId
from ottla.controller.snapshots import Snapshots
from ottla.metadata import MetadataImage
from ottla.model import TopicPartition, Uuid
from ottla.runtime.disk import Disk
from ottla.storage.errors import CorruptLogError
from ottla.storage.flush import Flush
from ottla.storage.leader_batch import Origin
from ottla.storage.log import Log
from ottla.storage.offset_checkpoints import OffsetCheckpoint, OffsetCheckpointName
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches
from ottla.wire.schema import Message
from ottla.wire.stored.quorum import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    LeaderChangeMessageVoter,
    VotersRecord,
)
from ottla.wire.stored.quorum_state import QuorumStateData

METADATA_PARTITION: Final = TopicPartition("__cluster_metadata", 0)
METADATA_TOPIC_ID: Final = Uuid(bytes(15) + b"\x01")

_SNAPSHOTS_KEPT: Final = 2
_READ_BYTES: Final = 1 << 20
_SNAPSHOT_WORTH_BYTES: Final = 1 << 20
_SNAPSHOT_WORTH_TIMES: Final = 4


@dataclass(frozen=True, slots=True)
class MetadataLogConfig:
    """With Kafka's names and defaults."""

    log_segment_bytes: int = 1 << 30
    max_record_bytes_between_snapshots: int = 20 << 20


class RecoveryPoint:
    """How far the log is known to be on the device, in a checkpoint in its own directory.

    Kafka keeps none for this log and takes whatever a crash or a rotten disk left of it for all
    there was. It leaves the file alone.
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
    """Made by `metadata_log_loading.open_metadata_log`, ended by `close`. Owned by one thread.

    Flushes and snapshots are values that a worker can carry out; what they prove is taken in here
    afterwards. An `OSError` from any of it means that the disk failed or is full.
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
        epoch: int,
    ) -> None:
        self.epoch = epoch
        self.voters: QuorumVoters | None = None
        self.bytes_since_snapshot = 0
        self._disk = disk
        self._directory = directory
        self._config = config
        self._log = log
        self._snapshots = snapshots
        self._recovery_point = recovery_point
        self._kraft_version = 0
        self._last_timestamp = 0
        self._is_snapshot_under_way = False
        latest = snapshots.ids[-1:]
        self._snapshot_bytes = disk.file_size(snapshots.path(latest[0])) if latest else 0

    @property
    def log_end_offset(self) -> int:
        return self._log.log_end_offset

    @property
    def committed_offset(self) -> int:
        return self._log.recovery_point

    # ---- reading

    def note_quorum_records(self, records: Sequence[Message]) -> None:
        """Takes who votes from a control batch, of the log or of a snapshot."""
        for record in records:
            if isinstance(record, KRaftVersionRecord):
                self._kraft_version = record.kraft_version
            elif isinstance(record, VotersRecord):
                self.voters = QuorumVoters(self._kraft_version, record)

    def read_from(self, offset: int) -> Iterator[DecodedBatch]:
        """Every batch from the one at an offset to the end of the log, as the log is opened."""
        end = self.log_end_offset
        while offset < end:
            piece = self._log.read(offset, bytes_max=_READ_BYTES, upper_offset=end)
            assert piece is not None, f"{self._log} has nothing at offset {offset}"
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

    def become_leader(self, node_id: int, *, now_ms: int) -> None:
        """Begins a new epoch with this node as its leader, durably.

        The first leader of all also writes who votes: a reader of the log alone has to know.
        """
        self.epoch += 1
        state = QuorumStateData(leader_id=node_id, leader_epoch=self.epoch)
        write_quorum_state(self._disk, self._directory, state)
        voter_ids = [node_id]
        records: list[Message] = []
        if self.voters is not None:
            voter_ids = [voter.voter_id for voter in self.voters.record.voters]
            if self.log_end_offset == 0:
                records = self.voters.records()
        leader = LeaderChangeMessage(
            leader_id=node_id,
            voters=[LeaderChangeMessageVoter(voter_id=voter_id) for voter_id in voter_ids],
            granting_voters=[LeaderChangeMessageVoter(voter_id=node_id)],
        )
        batch = encode_control_batch(
            [leader, *records],
            base_offset=self.log_end_offset,
            leader_epoch=self.epoch,
            now_ms=now_ms,
        )
        self._append(batch, now_ms)
        self.flush()

    def append(self, records: Sequence[Message], *, metadata_version: int, now_ms: int) -> None:
        """Appends what one operation writes: all of it, or nothing and an error."""
        start = self.log_end_offset
        batches = encode_operation(
            records, metadata_version=metadata_version, base_offset=start, now_ms=now_ms
        )
        try:
            for batch in batches:
                self._append(batch, now_ms)
        except OSError:
            self.withdraw(start, now_ms=now_ms)
            raise

    def withdraw(self, offset: int, *, now_ms: int) -> None:
        """Takes back what was appended from an offset on, durably."""
        assert offset >= self.committed_offset, "what is committed stays"
        self._log.truncate_to(offset, now_ms=now_ms)

    def _append(self, batch: bytearray, now_ms: int) -> None:
        self._log.append_as_leader(
            batch, leader_epoch=self.epoch, now_ms=now_ms, origin=Origin.COORDINATOR
        )
        self._note(now_ms, len(batch))

    def _note(self, timestamp: int, size: int) -> None:
        self._last_timestamp = max(self._last_timestamp, timestamp)
        self.bytes_since_snapshot += size

    # ---- durability

    def prepare_flush(self) -> Flush | None:
        return self._log.prepare_flush()

    def complete_flush(self, flush: Flush) -> None:
        """What was flushed is committed."""
        self._log.complete_flush(flush)
        self._log.advance_high_watermark(self._log.recovery_point)

    def flush(self) -> None:
        """Commits everything, here and now."""
        flush = self.prepare_flush()
        if flush is not None:
            flush.run()
            self.complete_flush(flush)

    # ---- snapshots

    @property
    def is_snapshot_due(self) -> bool:
        """After as many bytes as are configured, or sooner where a snapshot is small beside them:
        a start reads both, and should not take much longer than the image is worth."""
        worth_it = max(_SNAPSHOT_WORTH_BYTES, _SNAPSHOT_WORTH_TIMES * self._snapshot_bytes)
        limit = min(self._config.max_record_bytes_between_snapshots, worth_it)
        return self.bytes_since_snapshot >= limit and not self._is_snapshot_under_way

    def prepare_snapshot(self, committed: MetadataImage, *, now_ms: int) -> Snapshot | None:
        """A snapshot of the image of all committed records. Have it written anywhere, then call
        `complete_snapshot` or, if that failed, `abandon_snapshot`."""
        offset = self.committed_offset
        epoch = self._log.epochs.epoch_for_offset(offset - 1)
        if epoch is None or (snapshot := SnapshotId(offset, epoch)) in self._snapshots.ids:
            return None
        self._is_snapshot_under_way = True
        self.bytes_since_snapshot = 0
        return Snapshot(
            disk=self._disk,
            path=self._snapshots.path(snapshot),
            id=snapshot,
            records=committed.copy(),
            metadata_version=committed.metadata_version,
            voters=self.voters,
            last_contained_log_timestamp=self._last_timestamp,
            now_ms=now_ms,
        )

    def complete_snapshot(self, snapshot: Snapshot, *, now_ms: int) -> None:
        """Lets go of what the snapshot makes superfluous: older ones, and the log below them."""
        self._is_snapshot_under_way = False
        self._recovery_point.write(self.committed_offset)
        self._snapshots.add(snapshot.id)
        self._snapshot_bytes = self._disk.file_size(snapshot.path)
        earliest = self._snapshots.keep_latest(_SNAPSHOTS_KEPT)
        self._log.roll(now_ms=now_ms)
        self._log.delete_records_before(earliest.end_offset)
        self._log.delete_expired_segments(now_ms=now_ms)

    def abandon_snapshot(self) -> None:
        self._is_snapshot_under_way = False

    def close(self) -> None:
        self._log.close()
        self._recovery_point.write(self.committed_offset)

    def abandon(self) -> None:
        """Lets go of all files as they are."""
        self._log.abandon()
