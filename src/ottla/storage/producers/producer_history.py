"""A log's producers through time: their state now, and snapshots from which it can be had again.

A snapshot is taken where a segment begins and where a log is closed. It waits in memory until the
next flush writes it: what a crash loses of it, replaying the log from an older one brings back.
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
    """A snapshot that has been taken and not yet written."""

    offset: int
    path: str
    content: bytes


class ProducerHistory:
    """Owned by one log, and always as far as the log is."""

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
        """The directory's files are looked up unless the caller knows them."""
        self.state = ProducerState(partition, producer_id_expiration_ms=producer_id_expiration_ms)
        self._disk = disk
        self._directory = directory
        # The offsets of the snapshots on disk, and the contents of those that wait for a flush.
        self._offsets = {
            name.base_offset
            for name in (segment_files(disk, directory) if files is None else files)
            if name.kind is FileKind.PRODUCER_SNAPSHOT and name.state is FileState.LIVE
        }
        self._waiting: dict[int, WaitingSnapshot] = {}
        # Where the state was loaded from a snapshot, and the log to look into for the rest.
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
        """Raises if a batch must not be appended; returns what it repeats, if it does."""
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
        """Finds again what the snapshot that was loaded does not remember; once."""
        below, self._forgotten_below = self._forgotten_below, None
        if below is None or self._segments is None:
            return False
        # Bytes that cannot be read are for recovery to find, and for readers.
        with suppress(CorruptLogError):
            for producer, batches in recent_batches(self._segments, below=below).items():
                self.state.remember(producer.producer_id, producer.producer_epoch, batches)
        return True

    def note(self, batch: Buffer, header: BatchHeader, segment: Segment) -> None:
        """Notes a batch that was appended to `segment`, in its transaction index too."""
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
        """Notes what Kafka's compaction left of a marker when nothing of its transaction was left:
        that the producer has this epoch, and that a transaction which an older snapshot knows is
        over."""
        known = self.state.entries.get(header.producer_id)
        return self.state.update_marker(
            header,
            base_offset=header.base_offset,
            coordinator_epoch=NO_COORDINATOR_EPOCH if known is None else known.coordinator_epoch,
            is_abort=False,
        )

    def load_up_to(self, offset: int, segments: Segments, *, now_ms: int) -> None:
        """Makes the state what it was at `offset`: from the last sound snapshot, and the log."""
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
        """Loads the last snapshot that can be read, and returns the offset that it is of."""
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
        """Remembers the state as that of `offset`, to be written with the next flush."""
        if offset not in self._offsets:
            content = encode_snapshot(self.state.entries.values())
            self._waiting[offset] = WaitingSnapshot(offset, self._path(offset), content)

    def waiting_snapshots(self) -> tuple[WaitingSnapshot, ...]:
        """What a flush has to write; then call `snapshots_written`."""
        return tuple(self._waiting.values())

    def snapshots_written(self, snapshots: Iterable[WaitingSnapshot]) -> None:
        for snapshot in snapshots:
            self._offsets.add(snapshot.offset)
            if self._waiting.get(snapshot.offset) is snapshot:
                del self._waiting[snapshot.offset]
            else:
                # A truncation overtook the flush: these producers never were.
                self._remove((snapshot.offset,))

    def snapshots_overtaken(self, snapshots: Iterable[WaitingSnapshot]) -> None:
        """A flush may have written these before a truncation, or found the truncation there."""
        self.snapshots_written(each for each in snapshots if self._disk.exists(each.path))

    def forget_snapshots(self, *, below: int = 0, above: int | None = None) -> None:
        """Removes the snapshots of offsets that the log has no use for any more."""

        def is_useless(offset: int) -> bool:
            return offset < below or (above is not None and offset > above)

        self._remove([offset for offset in self._offsets if is_useless(offset)])
        for offset in [offset for offset in self._waiting if is_useless(offset)]:
            del self._waiting[offset]

    def forget_strays(self, segments: Segments) -> None:
        """Removes the snapshots that begin no segment, as every close leaves one; not the last."""
        bases = {segment.base_offset for segment in segments}
        self._remove(sorted(self._offsets - bases)[:-1])

    def forget_snapshots_between(self, start: int, end: int) -> None:
        """Removes the snapshots of offsets that are about to be compacted.

        One may know a transaction as open whose marker goes because nothing else is left of it; a
        state that is replayed from there would never see that transaction end.
        """
        compacted = range(start, end)
        self._remove([offset for offset in self._offsets if offset in compacted])
        for offset in [offset for offset in self._waiting if offset in compacted]:
            del self._waiting[offset]

    def restart(self) -> None:
        """Forgets everything, as when a log begins anew."""
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
