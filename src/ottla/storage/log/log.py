"""A partition's log: segments in order, and what is known about them.

    log_start_offset <= high_watermark <= log_end_offset
    recovery_point   <= log_end_offset: everything below it is on the device

Single-threaded: every method runs on the owner's thread, except `Flush.run`, which may run on a
worker. Time comes in as `now_ms`. An `OSError` means that the disk failed or is full; the log's
state is then still what it was, and the owner decides about the directory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

from ottla.model import NO_TIMESTAMP, Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.runtime.disk import Disk
from ottla.storage.batches.follower_batches import check_batches
from ottla.storage.batches.leader_batch import Origin, check_batch, place_batch, stamp_batch
from ottla.storage.batches.opened_batch import OpenedBatch, has_to_be_opened, open_batch
from ottla.storage.epochs.epoch_cache import LeaderEpochCache
from ottla.storage.indexes.offset_index import RELATIVE_OFFSET_MAX
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

_LOG_APPEND_TIME = TimestampType.LOG_APPEND_TIME


class AppendResult(NamedTuple):
    """Where a batch is in the log. A duplicate is where its first copy is."""

    first_offset: int
    last_offset: int
    log_append_time_ms: int
    is_duplicate: bool


# As with `new_header`: every append makes one.
_new_result: Callable[[type[AppendResult], tuple[object, ...]], AppendResult] = tuple.__new__


class Log(ReadableLog):
    """Made by `log_loading.open_log`, ended by `close`."""

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
        # Held by whoever uses files that the log might close or write anew; see flush.py.
        self._files_lock = Lock()
        self.retired = RetiredSegments(disk, directory, self._files_lock)
        self._disk = disk
        self._recovery_points = recovery_points
        # A file beside the segments that the next flush has to make durable with them.
        self.doubted_path: str | None = None
        # Tells a flush that was under way during a truncation that it proves nothing any more.
        self._truncations = 0
        # Its files may have other names by now, or be gone.
        self.is_abandoned = False

    @property
    def disk(self) -> Disk:
        return self._disk

    @property
    def truncations(self) -> int:
        """How often the log was cut: work that was planned before does not fit it any more."""
        return self._truncations

    def reconfigure(self, config: LogConfig) -> None:
        """Goes on with another config, which counts from the next append or chore on."""
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
        """Appends the one batch that fills `records`, at the end of the log.

        A writable buffer gets its offset and epoch written in place. `KafkaError` says why a batch
        is refused; then nothing was appended. A marker comes with the version of its transaction,
        a batch that may open one with what was verified. `opened` is the same batch as
        opened_batch.py made it ahead; without it, a batch that has to be opened is opened here.
        """
        config = self.config
        if opened is None or opened.config is not config:
            header = check_batch(records, config, origin=origin, now_ms=now_ms)
            if config.opens_batches and has_to_be_opened(header, config, origin):
                opened = open_batch(
                    records, config, name=self.partition, origin=origin, now_ms=now_ms
                )
                records, header, _ = opened
        else:
            records, header, _ = opened
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
        stamps = config.message_timestamp_type is _LOG_APPEND_TIME
        if stamps:
            records, header = stamp_batch(records, now_ms=now_ms)
        first_offset = self.log_end_offset
        # Far faster than `_replace`, which every append would pay for.
        placed = new_header(
            BatchHeader, (first_offset, header.batch_length, leader_epoch, *header[3:])
        )
        self._append(place_batch(records, placed), records, (placed,), now_ms)
        last_offset, time_ms = self.log_end_offset - 1, now_ms if stamps else NO_TIMESTAMP
        return _new_result(AppendResult, (first_offset, last_offset, time_ms, False))

    def append_as_follower(self, records: Buffer, *, leader_epoch: int, now_ms: int) -> int:
        """Appends batches as the leader of this epoch has them, offsets and epochs included, and
        returns the new end of the log. A batch that the fetch cut off at the end is left out."""
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
            # A marker that the transaction index does not tell of would expose what was aborted.
            self.truncate_to(headers[0].base_offset, now_ms=now_ms)
            raise

    def _is_over(self, active: Segment, timestamp: int, size: int, now_ms: int) -> bool:
        """Whether the active segment has no room, or has been filling for `segment.ms` (by the
        records' own time)."""
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
        """Ends the active segment and begins a new one at the end of the log.

        A later base offset is for a gap that no segment spans. Otherwise segments follow each other
        without one even where the batches do not, so that recovery sees when a segment is missing.
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
            # Nothing was ever in it, and two segments must not share what comes next. The new one
            # is made durable first: a directory without a segment has forgotten its offsets.
            segment.sync()
            self.segments.remove(active)
            with self._files_lock:
                active.remove()
        self.segments.add(segment)
        return segment

    # ---- cutting

    def truncate_to(self, offset: int, *, now_ms: int) -> None:
        """Drops everything from `offset` on, durably. A batch that holds `offset` goes whole."""
        if offset >= self.log_end_offset:
            return
        if offset < self.segments.first.base_offset:
            self.truncate_fully(offset, now_ms=now_ms)
            return
        kept, *dropped = self.segments.starting_with(offset)
        located = kept.locate(offset)
        end = offset if located is None else min(offset, located.header.base_offset)
        self._begin_truncation(end)
        # From the end, so that a crash in between leaves a log without a hole.
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
        """Drops everything; the log begins anew at `start_offset`."""
        self._begin_truncation(min(start_offset, self.segments.first.base_offset))
        # What was known of the old records goes before them: it must not outlive them in a crash.
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
        """A recovery point above a truncation would vouch for bytes that are yet to be written."""
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
        """Moves the start of the log up (DeleteRecords); retention then removes the segments."""
        if offset > self.high_watermark:
            raise KafkaError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"{self.partition} has committed offsets below {self.high_watermark} only; "
                f"records before {offset} cannot be deleted yet",
            )
        self._advance_log_start(offset)

    def delete_expired_segments(self, *, now_ms: int) -> list[Segment]:
        """Lets go of the segments at the start that retention has put out of use."""
        expired = expired_segments(
            self.segments,
            self.config,
            now_ms=now_ms,
            log_start_offset=self.log_start_offset,
            log_end_offset=self.log_end_offset,
            high_watermark=self.high_watermark,
        )
        if expired and expired[-1] is self.segments.active:
            # Durable first: a directory without a segment has forgotten its offsets.
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
        """What has to be synced to make the log durable up to its present end, if anything. Run it
        anywhere, then hand it to `complete_flush`. One at a time: until then nothing else flushes
        or closes the log, or older checkpoints would replace newer ones."""
        segments: list[Segment] = []
        if self.recovery_point < self.log_end_offset:
            # A segment that ends at the recovery point was completed after it was synced, maybe.
            segments = self.segments.between(self.recovery_point - 1, self.log_end_offset)
        elif not (self.producers.waiting_snapshots() or self.epochs.is_dirty):
            return None
        return self._flush_of(segments)

    def prepare_close(self) -> Flush:
        """The same for a log that is closed next: then it needs no scan when it is opened again."""
        self.segments.active.become_inactive()
        if self.log_end_offset > self.segments.first.base_offset:
            self.producers.take_snapshot(self.log_end_offset)
        # Completing a time index, here or in a roll, is no append and moves no recovery point.
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
            # It ran before the truncation, or not at all: what is to be durable is written again.
            self.producers.snapshots_overtaken(flush.snapshots)
            return
        self.producers.snapshots_written(flush.snapshots)
        if flush.epochs is not None:
            self.epochs.checkpoint_written(flush.epochs)
        if flush.doubted_path is not None:
            self.doubted_path = None
        self.recovery_point = max(self.recovery_point, flush.offset)

    def flush(self) -> None:
        """Makes everything durable, here and now."""
        flush = self.prepare_flush()
        if flush is not None:
            flush.run()
            self.complete_flush(flush)

    def close(self) -> None:
        """Ends the log cleanly, with all of it durable."""
        flush = self.prepare_close()
        if flush.is_needed:
            flush.run()
        self.end(flush)

    def end(self, flush: Flush) -> None:
        """Closes everything, after the flush of `prepare_close` has run."""
        self.complete_flush(flush)
        self.retired.purge()
        self.abandon()

    def abandon(self) -> None:
        """Lets go of all files as they are; what was not flushed is found again, or recovered."""
        self.is_abandoned = True
        for segment in self.segments:
            segment.close()

    def __str__(self) -> str:
        return f"{self.partition} in {self.directory}"
