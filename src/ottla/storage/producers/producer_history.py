"""The producer state of a log, and the snapshots from which it is restored.

A snapshot is taken at the start of every segment and when a log is closed. It stays in memory until
the next flush writes it. If a crash loses it, an older snapshot and the log replace it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from ottla.model import Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.errors import CorruptLogError, CorruptSnapshotError
from ottla.storage.files.file_names import FileKind, FileState, SegmentFileName
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.producers.producer_entry import NO_COORDINATOR_EPOCH, BatchMetadata
from ottla.storage.producers.producer_snapshot import encode_snapshot, read_snapshot
from ottla.storage.producers.producer_state import ProducerState
from ottla.storage.producers.recollection import recent_batches
from ottla.storage.producers.unstable_transactions import CompletedTransaction
from ottla.storage.producers.verification import Verification
from ottla.storage.segments.interrupted_work import segment_files
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments
from ottla.wire.records.control import ControlRecordType, read_marker_batch
from ottla.wire.records.header import CONTROL_FLAG, BatchHeader

_CLIENT = Origin.CLIENT


class WaitingSnapshot(NamedTuple):
    """A snapshot that is not yet written."""

    offset: int
    path: str
    content: bytes


class ProducerHistory:
    """Owned by one log. Always reflects the log up to its end."""

    __slots__ = (
        "_directory",
        "_disk",
        "_forgotten_below",
        "_offsets",
        "_segments",
        "_waiting",
        "state",
    )

    def __init__(
        self,
        disk: Disk,
        directory: str,
        partition: TopicPartition,
        *,
        producer_id_expiration_ms: int,
        files: Iterable[SegmentFileName] | None = None,
    ) -> None:
        """Lists the directory unless the caller passes its files."""
        self.state = ProducerState(partition, producer_id_expiration_ms=producer_id_expiration_ms)
        self._disk = disk
        self._directory = directory
        # The offsets of the snapshots on disk, and the snapshots that wait for a flush.
        self._offsets = {
            name.base_offset
            for name in (segment_files(disk, directory) if files is None else files)
            if name.kind is FileKind.PRODUCER_SNAPSHOT and name.state is FileState.LIVE
        }
        self._waiting: dict[int, WaitingSnapshot] = {}
        # The offset of the snapshot that was loaded, and the log to search for older batches.
        self._forgotten_below: int | None = None
        self._segments: Segments | None = None

    def check(
        self,
        records: Buffer,
        header: BatchHeader,
        *,
        origin: Origin,
        transaction_version: int,
        verification: Verification | None,
    ) -> BatchMetadata | None:
        """Raises if a batch must not be appended. Returns the original if the batch is a
        duplicate."""
        if origin is _CLIENT:
            try:
                return self.state.check_client_batch(header, verification)
            except KafkaError as error:
                if (
                    error.code is not ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
                    or not self._recollect()
                ):
                    raise
            return self.state.check_client_batch(header, verification)
        if header.is_control:
            marker = read_marker_batch(records)
            self.state.check_marker(
                header,
                coordinator_epoch=marker.coordinator_epoch,
                transaction_version=transaction_version,
            )
        else:
            self.state.check_coordinator_batch(header, verification)
        return None

    def _recollect(self) -> bool:
        """Restores the batches that the loaded snapshot lacks, from the log. Does so only once."""
        below, self._forgotten_below = self._forgotten_below, None
        if below is None or self._segments is None:
            return False
        # Recovery and readers report bytes that cannot be read.
        with suppress(CorruptLogError):
            for producer, batches in recent_batches(self._segments, below=below).items():
                self.state.remember(producer.producer_id, producer.producer_epoch, batches)
        return True

    def note(self, batch: Buffer, header: BatchHeader, segment: Segment) -> None:
        """Records a batch that was appended to `segment`, in its transaction index too."""
        completed = self._update(batch, header)
        if completed is None:
            return
        if completed.is_aborted:
            segment.transaction_index.append(
                AbortedTransaction(
                    completed.producer_id,
                    completed.first_offset,
                    completed.last_offset,
                    completed.last_stable_offset,
                )
            )
        self.state.complete(completed)

    def _update(self, batch: Buffer, header: BatchHeader) -> CompletedTransaction | None:
        if not header.attributes & CONTROL_FLAG:
            self.state.update(header, base_offset=header.base_offset)
            return None
        if not header.record_count:
            return self._update_emptied_marker(header)
        marker = read_marker_batch(batch)
        return self.state.update_marker(
            header,
            base_offset=header.base_offset,
            coordinator_epoch=marker.coordinator_epoch,
            is_abort=marker.type is ControlRecordType.ABORT,
        )

    def _update_emptied_marker(self, header: BatchHeader) -> CompletedTransaction | None:
        """Records a marker that Kafka's compaction emptied after removing the rest of its
        transaction: the producer has this epoch, and a transaction that is open in an older
        snapshot has ended."""
        known = self.state.entries.get(header.producer_id)
        return self.state.update_marker(
            header,
            base_offset=header.base_offset,
            coordinator_epoch=NO_COORDINATOR_EPOCH if known is None else known.coordinator_epoch,
            is_abort=False,
        )

    def load_up_to(self, offset: int, segments: Segments, *, now_ms: int) -> None:
        """Restores the state as of `offset`, from the latest valid snapshot and the log after
        it."""
        first_offset = segments.first.base_offset
        self.forget_snapshots(below=first_offset, above=offset)
        start = self._load_latest(first_offset, now_ms)
        self._segments = segments
        self._forgotten_below = start if start > first_offset else None
        for segment in segments.between(start, offset) if start < offset else ():
            for position, header in segment.headers():
                if start <= header.base_offset < offset and header.has_producer_id:
                    self._replay(segment, position, header)

    def _replay(self, segment: Segment, position: int, header: BatchHeader) -> None:
        batch = b""
        if header.is_control:
            batch = segment.log_file.read_at(position, header.size_in_bytes)
        completed = self._update(batch, header)
        if completed is not None:
            self.state.complete(completed)

    def _load_latest(self, first_offset: int, now_ms: int) -> int:
        """Loads the latest readable snapshot and returns its offset."""
        for offset in sorted(self._offsets, reverse=True):
            try:
                entries = read_snapshot(self._disk, self._path(offset))
            except CorruptSnapshotError:
                self._remove((offset,))
                continue
            self.state.load(entries, now_ms=now_ms)
            return offset
        self.state.clear()
        return first_offset

    def take_snapshot(self, offset: int) -> None:
        """Keeps the current state as the snapshot of `offset`, for the next flush to write."""
        if offset not in self._offsets:
            content = encode_snapshot(self.state.entries.values())
            self._waiting[offset] = WaitingSnapshot(offset, self._path(offset), content)

    def waiting_snapshots(self) -> tuple[WaitingSnapshot, ...]:
        """The snapshots that a flush has to write. Call `snapshots_written` afterwards."""
        return tuple(self._waiting.values())

    def snapshots_written(self, snapshots: Iterable[WaitingSnapshot]) -> None:
        for snapshot in snapshots:
            self._offsets.add(snapshot.offset)
            if self._waiting.get(snapshot.offset) is snapshot:
                del self._waiting[snapshot.offset]
            else:
                # The log was truncated during the flush: the snapshot is of state that no longer
                # exists.
                self._remove((snapshot.offset,))

    def snapshots_overtaken(self, snapshots: Iterable[WaitingSnapshot]) -> None:
        """Removes the snapshots that a flush wrote before a truncation, if it ran at all."""
        self.snapshots_written(each for each in snapshots if self._disk.exists(each.path))

    def forget_snapshots(self, *, below: int = 0, above: int | None = None) -> None:
        """Removes the snapshots below or above the given offsets."""

        def is_useless(offset: int) -> bool:
            return offset < below or (above is not None and offset > above)

        self._remove([offset for offset in self._offsets if is_useless(offset)])
        for offset in [offset for offset in self._waiting if is_useless(offset)]:
            del self._waiting[offset]

    def forget_strays(self, segments: Segments) -> None:
        """Removes snapshots at offsets where no segment begins, except the latest. Every close
        writes one."""
        bases = {segment.base_offset for segment in segments}
        self._remove(sorted(self._offsets - bases)[:-1])

    def forget_snapshots_between(self, start: int, end: int) -> None:
        """Removes the snapshots of offsets that are about to be compacted.

        Such a snapshot may contain an open transaction whose marker compaction removes, because no
        batch of it is left. A replay from there would never end the transaction.
        """
        compacted = range(start, end)
        self._remove([offset for offset in self._offsets if offset in compacted])
        for offset in [offset for offset in self._waiting if offset in compacted]:
            del self._waiting[offset]

    def restart(self) -> None:
        """Clears the state and removes all snapshots, for a log that restarts."""
        self._forgotten_below = None
        self.state.clear()
        self._waiting.clear()
        self._remove(list(self._offsets))

    def _remove(self, offsets: Iterable[int]) -> None:
        for offset in offsets:
            self._disk.remove(self._path(offset))
            self._offsets.discard(offset)

    def _path(self, offset: int) -> str:
        return f"{self._directory}/{SegmentFileName(offset, FileKind.PRODUCER_SNAPSHOT)}"
