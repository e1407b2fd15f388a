"""A partition's log: its segments in order, and the state derived from them.

    log_start_offset <= high_watermark <= log_end_offset
    recovery_point   <= log_end_offset: everything below it is on the device

Single-threaded: every method runs on the owner's thread, except `Flush.run`, which may run on a
worker. Callers pass the time as `now_ms`. An `OSError` means that the disk failed or is full. The
log's state is then unchanged, and the owner decides whether to take the directory offline.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from ottla.model import NO_TIMESTAMP, Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.batches.follower_batches import check_batches
from ottla.storage.batches.leader_batch import Origin, check_batch, place_batch, stamp_batch
from ottla.storage.batches.opened_batch import OpenedBatch, has_to_be_opened, open_batch
from ottla.storage.epochs.epoch_cache import LeaderEpochCache
from ottla.storage.indexes.offset_index import RELATIVE_OFFSET_MAX
from ottla.storage.log.append_result import AppendResult, new_result
from ottla.storage.log.delay_gate import DelayGate, gated, kept_from
from ottla.storage.log.flush import Flush
from ottla.storage.log.readable_log import ReadableLog
from ottla.storage.log.recovery_points import RecoveryPointKeeper
from ottla.storage.log.retention import expired_segments
from ottla.storage.log_config import LogConfig
from ottla.storage.producers.producer_history import ProducerHistory
from ottla.storage.producers.verification import Verification
from ottla.storage.segments.retired_segments import RetiredSegments
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segments import Segments
from ottla.wire.records.header import (
    LENGTH_PREFIX_BYTES,
    BatchHeader,
    TimestampType,
    new_header,
)

_LOG_APPEND_TIME, _CLIENT = TimestampType.LOG_APPEND_TIME, Origin.CLIENT


class Log(ReadableLog):
    """Made by `log_loading.open_log`, closed by `close`."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        partition: TopicPartition,
        config: LogConfig,
        *,
        segments: Segments,
        producers: ProducerHistory,
        epochs: LeaderEpochCache,
        recovery_points: RecoveryPointKeeper,
        log_start_offset: int,
        log_end_offset: int,
        recovery_point: int,
    ) -> None:
        super().__init__(
            partition,
            segments,
            producers,
            log_start_offset=log_start_offset,
            log_end_offset=log_end_offset,
        )
        self.directory = directory
        self.config = config
        producers.state.requires_verification = config.transaction_verification_enable
        self.epochs = epochs
        self.recovery_point = recovery_point
        # Held while files are used that the log might close or rewrite; see flush.py.
        self._files_lock = Lock()
        self.retired = RetiredSegments(disk, directory, self._files_lock)
        self._disk = disk
        self._recovery_points = recovery_points
        # Another file of the directory that the next flush has to make durable.
        self.doubted_path: str | None = None
        # A flush compares it: a truncation during the flush makes its result invalid.
        self._truncations = 0
        # Set by the leader of a topic with delayed delivery.
        self.delay_gate: DelayGate | None = None
        # Set by `abandon`: the files may have been renamed or removed since.
        self.is_abandoned = False

    @property
    def disk(self) -> Disk:
        return self._disk

    @property
    def truncations(self) -> int:
        """How often the log was truncated. A plan made before a truncation is no longer valid."""
        return self._truncations

    def reconfigure(self, config: LogConfig) -> None:
        """Replaces the configuration; the new one applies from the next append or background job
        on."""
        self.config = config
        self.producers.state.expiration_ms = config.producer_id_expiration_ms
        self.producers.state.requires_verification = config.transaction_verification_enable
        for segment in self.segments:
            segment.config = config

    # ---- appending

    def append_as_leader(
        self,
        records: Buffer,
        *,
        leader_epoch: int,
        now_ms: int,
        origin: Origin = Origin.CLIENT,
        transaction_version: int = 0,
        verification: Verification | None = None,
        opened: OpenedBatch | None = None,
    ) -> AppendResult:
        """Appends the one batch in `records` at the end of the log.

        The offset and leader epoch are written into `records` in place if it is writable. Raises
        `KafkaError` with the reason if the batch is refused; then nothing was appended.
        `transaction_version` belongs to a transaction marker, `verification` to a batch that may
        open a transaction. `opened` is the same batch, already opened by opened_batch.py; without
        it, a batch that has to be opened is opened here.
        """
        config = self.config
        if opened is None or opened.config is not config:
            header = check_batch(records, config, origin=origin, now_ms=now_ms)
            if config.opens_batches and has_to_be_opened(header, config, origin):
                opened = open_batch(
                    records, config, name=self.partition, origin=origin, now_ms=now_ms
                )
                records, header = opened.records, opened.header
        else:
            records, header = opened.records, opened.header
        if header.producer_id >= 0:
            duplicate = self.producers.check(
                records,
                header,
                origin=origin,
                transaction_version=transaction_version,
                verification=verification,
            )
            if duplicate is not None:
                return AppendResult(
                    duplicate.first_offset, duplicate.last_offset, duplicate.timestamp, True
                )
        if config.delays and origin is _CLIENT:
            assert opened is not None, "batches are opened if they can be held"
            records, header, *_ = gated(self.delay_gate, opened, now_ms=now_ms)
        stamps = config.message_timestamp_type is _LOG_APPEND_TIME
        if stamps:
            records, header = stamp_batch(records, now_ms=now_ms)
        first_offset = self.log_end_offset
        # Much faster than `_replace`, and on the path of every append.
        placed = new_header(
            BatchHeader, (first_offset, header.batch_length, leader_epoch, *header[3:])
        )
        self._append(place_batch(records, placed), records, (placed,), now_ms)
        last_offset, time_ms = self.log_end_offset - 1, now_ms if stamps else NO_TIMESTAMP
        return new_result(AppendResult, (first_offset, last_offset, time_ms, False))

    def append_as_follower(self, records: Buffer, *, leader_epoch: int, now_ms: int) -> int:
        """Appends batches fetched from the leader of `leader_epoch`, with its offsets and epochs.
        Returns the new log end offset. An incomplete batch at the end of the fetched bytes is
        ignored."""
        headers, size = check_batches(
            records, leader_epoch=leader_epoch, log_end_offset=self.log_end_offset
        )
        if headers:
            whole = memoryview(records)[:size]
            self._append((whole,), whole, headers, now_ms)
        return self.log_end_offset

    def _append(
        self,
        buffers: Sequence[Buffer],
        records: Buffer,
        headers: Sequence[BatchHeader],
        now_ms: int,
    ) -> None:
        first, last = headers[0], headers[-1]
        last_offset = last.base_offset + last.last_offset_delta
        segment = self.segments.active
        if last_offset - segment.base_offset > RELATIVE_OFFSET_MAX or (
            segment.size and self._is_over(segment, first.max_timestamp, len(records), now_ms)
        ):
            fits = last_offset - self.log_end_offset <= RELATIVE_OFFSET_MAX
            segment = self.roll(now_ms=now_ms, base_offset=None if fits else first.base_offset)
        segment.append(buffers, headers)
        self.log_end_offset = last_offset + 1
        at = 0
        try:
            for header in headers:
                epoch, size = header.leader_epoch, header.batch_length + LENGTH_PREFIX_BYTES
                if epoch != self.epochs.latest_epoch and epoch >= 0:
                    self.epochs.assign(epoch=epoch, start_offset=header.base_offset)
                if header.producer_id >= 0:
                    batch = records if first is last else memoryview(records)[at : at + size]
                    self.producers.note(batch, header, segment)
                at += size
        except OSError:
            # Without its entry in the transaction index, an abort marker would expose aborted
            # records to read_committed consumers.
            self.truncate_to(headers[0].base_offset, now_ms=now_ms)
            raise

    def _is_over(self, active: Segment, timestamp: int, size: int, now_ms: int) -> bool:
        """Whether the active segment is full, or has been open for `segment.ms` by record time."""
        config = self.config
        if active.size + size > config.segment_bytes or (
            active.index_room <= 0 and active.is_index_full
        ):
            return True
        limit_ms = config.segment_ms - config.segment_jitter_ms
        first = active.first_timestamp
        if first is None:
            first = active.read_first_timestamp()
        if first >= 0 and timestamp >= 0:
            return timestamp - first > limit_ms
        return now_ms - active.created_ms > limit_ms

    def roll(self, *, now_ms: int, base_offset: int | None = None) -> Segment:
        """Closes the active segment and creates a new one at the log end offset.

        `base_offset` is given only for a gap too large for one segment. Otherwise the new segment
        begins where the last one ends, even if the offsets of the batches have a gap, so that
        recovery can detect a missing segment.
        """
        base_offset = max(self.log_end_offset, base_offset or 0)
        active = self.segments.active
        if active.base_offset == base_offset:
            assert active.size == 0, "a segment that holds batches ends after its base offset"
            return active
        active.become_inactive()
        self.producers.take_snapshot(self.log_end_offset)
        segment = Segment.create(
            self._disk, self.directory, base_offset, self.config, created_ms=now_ms
        )
        if active.size == 0:
            # An empty active segment is replaced: two segments must not hold the same offsets. The
            # new one is made durable first, because a directory without a segment has lost its
            # offsets.
            segment.sync()
            self.segments.remove(active)
            with self._files_lock:
                active.remove()
        self.segments.add(segment)
        return segment

    # ---- cutting

    def truncate_to(self, offset: int, *, now_ms: int) -> None:
        """Removes everything from `offset` on, durably. A batch that contains `offset` is removed
        whole."""
        if offset >= self.log_end_offset:
            return
        if offset < self.segments.first.base_offset:
            self.truncate_fully(offset, now_ms=now_ms)
            return
        kept, *dropped = self.segments.starting_with(offset)
        located = kept.locate(offset)
        end = offset if located is None else min(offset, located.header.base_offset)
        self._begin_truncation(end)
        # Last segment first, so that a crash in between leaves no gap.
        for segment in reversed(dropped):
            self.segments.remove(segment)
            self.retired.add(segment, now_ms=now_ms, delay_ms=0)
        if located is not None:
            kept.truncate_at(located.position, end)
        self._end_truncation(end)
        self.epochs.truncate_from_end(end)
        self.producers.load_up_to(end, self.segments, now_ms=now_ms)
        self.producers.state.on_high_watermark_updated(self.high_watermark)

    def truncate_fully(self, start_offset: int, *, now_ms: int) -> None:
        """Removes everything; the log restarts at `start_offset`."""
        self._begin_truncation(min(start_offset, self.segments.first.base_offset))
        # Leader epochs and producer state are removed first, so that a crash cannot leave them
        # without their records.
        self.epochs.clear()
        self.epochs.flush()
        self.producers.restart()
        for segment in reversed(list(self.segments)):
            self.segments.remove(segment)
            self.retired.add(segment, now_ms=now_ms, delay_ms=0)
        segment = Segment.create(
            self._disk, self.directory, start_offset, self.config, created_ms=now_ms
        )
        segment.sync()
        self.segments.add(segment)
        self.producers.take_snapshot(start_offset)
        self.log_start_offset = start_offset
        self.high_watermark = start_offset
        self._end_truncation(start_offset)

    def _begin_truncation(self, offset: int) -> None:
        """Lowers the recovery point first. Above the new end of the log, it would mark bytes as
        durable that are not yet written."""
        with self._files_lock:
            self._truncations += 1
        if self.recovery_point > offset:
            self._recovery_points.lower(self.partition, offset)
            self.recovery_point = offset

    def _end_truncation(self, end: int) -> None:
        self.log_end_offset = end
        self.log_start_offset = min(self.log_start_offset, end)
        self.high_watermark = min(self.high_watermark, end)

    def delete_records_before(self, offset: int) -> None:
        """Raises the log start offset (DeleteRecords). Retention then removes the segments."""
        if offset > self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"the high watermark of {self.partition} is {self.high_watermark}; records up to "
                f"offset {offset} cannot be deleted yet",
            )
        self._advance_log_start(offset)

    def delete_expired_segments(self, *, now_ms: int) -> list[Segment]:
        """Removes the segments at the start of the log that retention has expired."""
        expired = expired_segments(
            self.segments,
            self.config,
            now_ms=now_ms,
            log_start_offset=self.log_start_offset,
            log_end_offset=self.log_end_offset,
            high_watermark=self.high_watermark,
            kept_from=kept_from(self.delay_gate, self.log_start_offset)
            if self.config.delays
            else self.log_end_offset,
        )
        if expired and expired[-1] is self.segments.active:
            # Synced first: a directory without a segment has lost its offsets.
            self.roll(now_ms=now_ms).sync()
        for segment in expired:
            end = self.segments.end_offset(segment, self.log_end_offset)
            self.segments.remove(segment)
            self.retired.add(segment, now_ms=now_ms, delay_ms=self.config.file_delete_delay_ms)
            self._advance_log_start(end)
        self.producers.forget_snapshots(below=self.segments.first.base_offset)
        return expired

    def _advance_log_start(self, offset: int) -> None:
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.epochs.truncate_from_start(offset)
            self.producers.state.on_log_start_offset_incremented(offset)

    # ---- durability

    def prepare_flush(self) -> Flush | None:
        """Returns the flush that makes the log durable up to its current end, or None if there is
        nothing to do.

        Run it on any thread, then pass it to `complete_flush`. Until then the log must not be
        flushed again or closed: older checkpoints would replace newer ones.
        """
        segments: list[Segment] = []
        if self.recovery_point < self.log_end_offset:
            # Includes the segment that ends at the recovery point: its time index may have been
            # completed after it was synced.
            segments = self.segments.between(self.recovery_point - 1, self.log_end_offset)
        elif not (self.producers.waiting_snapshots() or self.epochs.is_dirty):
            return None
        return self._flush_of(segments)

    def prepare_close(self) -> Flush:
        """As `prepare_flush`, for closing the log. The next open then needs no scan."""
        self.segments.active.become_inactive()
        if self.log_end_offset > self.segments.first.base_offset:
            self.producers.take_snapshot(self.log_end_offset)
        # Completing a time index, here or when rolling, does not move the recovery point.
        return self._flush_of(self.segments.starting_with(self.recovery_point - 1))

    def _flush_of(self, segments: list[Segment]) -> Flush:
        for segment in segments:
            segment.flush()
        truncations = self._truncations
        return Flush(
            disk=self._disk,
            directory=self.directory,
            segments=tuple(segments),
            snapshots=self.producers.waiting_snapshots(),
            epochs=self.epochs.checkpoint(),
            offset=self.log_end_offset,
            lock=self._files_lock,
            is_overtaken=lambda: self._truncations != truncations,
            doubted_path=self.doubted_path,
        )

    def complete_flush(self, flush: Flush) -> None:
        if flush.is_overtaken():
            # The flush ran before the truncation, or did nothing. Its files are written again by
            # the next.
            self.producers.snapshots_overtaken(flush.snapshots)
            return
        self.producers.snapshots_written(flush.snapshots)
        if flush.epochs is not None:
            self.epochs.checkpoint_written(flush.epochs)
        if flush.doubted_path is not None:
            self.doubted_path = None
        self.recovery_point = max(self.recovery_point, flush.offset)

    def flush(self) -> None:
        """Makes everything durable before it returns."""
        flush = self.prepare_flush()
        if flush is not None:
            flush.run()
            self.complete_flush(flush)

    def close(self) -> None:
        """Closes the log cleanly, with everything durable."""
        flush = self.prepare_close()
        if flush.is_needed:
            flush.run()
        self.end(flush)

    def end(self, flush: Flush) -> None:
        """Closes all files, after the flush from `prepare_close` has run."""
        self.complete_flush(flush)
        self.retired.purge()
        self.abandon()

    def abandon(self) -> None:
        """Closes all files without a flush. The next open recovers what was not flushed."""
        self.is_abandoned = True
        for segment in self.segments:
            segment.close()

    def __str__(self) -> str:
        return f"{self.partition} in {self.directory}"
