"""Reads a partition's log into the index of what it holds, up to the log's end.

Appends are usually taken at once, in the call that appended them. A task takes large batches, what
is not in the page cache, and all that a new leader finds in its log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ottla.broker.delaying.delay_context import DelayContext
from ottla.model import Buffer, KafkaError
from ottla.storage.delays.cancellations import CANCELLATIONS_MAX
from ottla.storage.delays.due_queue import DueQueue
from ottla.storage.delays.held_index import HeldBatch, HeldIndex
from ottla.storage.files.file_slice import FileSlice
from ottla.storage.log.log import Log
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import iterate_batches, verify_crc
from ottla.wire.records.header import BatchHeader

_READ_BYTES_MAX: Final = 1 << 20
# What the call that appended takes at once, in about a millisecond.
_INLINE_BYTES_MAX: Final = 64 << 10
_INLINE_RECORDS_MAX: Final = 400
_STEP_SECONDS: Final = 0.002


class HeldLog:
    """Owned by the leader of the partition."""

    def __init__(self, context: DelayContext, log: Log, leader_epoch: int) -> None:
        self.log = log
        queue = DueQueue(log.disk, log.directory, f"{leader_epoch}")
        self.index = HeldIndex(queue, self.segment_of)
        # Everything below it is in the index.
        self.scanned = log.log_start_offset
        self._context = context
        # A task has begun with a batch: nothing may be taken at once meanwhile.
        self._is_reading = False
        # A batch was taken in part when something failed: the index has to be made again.
        self.is_torn = False
        self._forgets_at = CANCELLATIONS_MAX

    @property
    def has_caught_up(self) -> bool:
        return self.scanned >= self.log.log_end_offset

    def segment_of(self, offset: int) -> int:
        segment = self.log.segments.containing(offset)
        return -1 if segment is None else segment.base_offset

    def skip_released(self, end_offset: int) -> None:
        """This leader has appended released records, and knows what they are."""
        self.scanned = end_offset

    def catch_up_now(self) -> bool:
        """Takes what was appended, if it is little. Returns whether that was all. Raises
        `OSError`, and `ProtocolError` for damaged data."""
        if self._is_reading:
            return False
        while not self.has_caught_up:
            found = self._read(_INLINE_BYTES_MAX)
            if found is None or found.size > _INLINE_BYTES_MAX:
                return False
            data = found.read_cached()
            if data is None:
                return False
            before = self.scanned
            for at, header in self._batches(data):
                if header.record_count > _INLINE_RECORDS_MAX and _is_ours(header):
                    return False
                if self._committed(data, at, header):
                    return False
                self.is_torn = True
                for _ in self._take(data, at, header, found.position + at):
                    pass
                self.scanned = header.next_offset
                self.is_torn = False
            if self.scanned == before:
                return False
        return True

    async def catch_up(self, *, forgets: bool = False) -> None:
        """Takes everything up to the log's end, in steps. It `forgets` cancellations of records
        that are gone, if all held ones are in the queue. Raises as `catch_up_now` does."""
        self._is_reading = True
        try:
            while not self.has_caught_up:
                before = self.scanned
                await self._catch_up_a_piece()
                if forgets:
                    self._forget_cancellations()
                if self.scanned == before:
                    raise ProtocolError(f"no batch of {self.log.partition} is at offset {before}")
        finally:
            self._is_reading = False

    async def _catch_up_a_piece(self) -> None:
        clock = self._context.clock
        found = self._read(_READ_BYTES_MAX)
        if found is None:
            return
        data: Buffer | None = found.read_cached()
        if data is None:
            data = await self._context.background.run(found.read)
        started = clock.monotonic()
        for at, header in self._batches(data):
            self.is_torn = True
            for batch in self._committed(data, at, header):
                await self._take_committed(batch)
            for _ in self._take(data, at, header, found.position + at):
                if clock.monotonic() - started > _STEP_SECONDS:
                    await clock.sleep(0)
                    started = clock.monotonic()
            self.scanned = header.next_offset
            self.is_torn = False
            if clock.monotonic() - started > _STEP_SECONDS:
                await clock.sleep(0)
                started = clock.monotonic()

    def _forget_cancellations(self) -> None:
        index = self.index
        if len(index.cancellations) >= self._forgets_at:
            first = index.queue.first()
            index.forget_cancellations(None if first is None else first.due_ms)
            self._forgets_at = max(CANCELLATIONS_MAX, 2 * len(index.cancellations))

    async def _take_committed(self, batch: HeldBatch) -> None:
        if batch.base_offset < self.log.log_start_offset:
            return
        found = self.log.read(
            batch.base_offset, bytes_max=batch.size, upper_offset=self.log.log_end_offset
        )
        if found is None:
            return
        data = await self._context.background.run(found.read)
        for at, header in iterate_batches(data):
            verify_crc(data, at, header)
            for _ in self.index.hold_committed(
                data, at, header, segment=batch.segment, position=batch.position
            ):
                await self._context.clock.sleep(0)
            break

    def _read(self, bytes_max: int) -> FileSlice | None:
        log = self.log
        # DeleteRecords may have overtaken it.
        self.scanned = max(self.scanned, log.log_start_offset)
        try:
            return log.read(self.scanned, bytes_max=bytes_max, upper_offset=log.log_end_offset)
        except KafkaError as error:
            raise ProtocolError(error.message) from error

    def _batches(self, data: Buffer) -> Iterator[tuple[int, BatchHeader]]:
        for at, header in iterate_batches(data):
            if header.next_offset > self.scanned:
                if _is_ours(header):
                    verify_crc(data, at, header)
                yield at, header

    def _committed(self, data: Buffer, at: int, header: BatchHeader) -> list[HeldBatch]:
        if not (header.is_control and header.has_producer_id):
            return []
        return self.index.committed_by(data, at, header)

    def _take(self, data: Buffer, at: int, header: BatchHeader, position: int) -> Iterator[None]:
        if not _is_ours(header):
            return
        index = self.index
        if header.is_released:
            start = self.log.log_start_offset
            yield from index.release(data, at, header, log_start_offset=start)
        if header.is_held:
            segment = self.segment_of(header.base_offset)
            yield from index.hold(data, at, header, segment=segment, position=position)
        elif header.is_control:
            index.end_transaction(header.producer_id)


def _is_ours(header: BatchHeader) -> bool:
    ends = header.is_control and header.has_producer_id
    return header.is_held or header.is_released or ends
