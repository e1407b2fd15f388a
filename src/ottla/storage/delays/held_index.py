"""What a partition holds, read from its log, batch by batch in the order of offsets.

The log alone has the state. A record is held from its batch on (that of a transaction from the
commit marker on), until a released batch has its copy or a cancellation follows. The same log gives
the same state, so nothing else is written, and a new leader needs only its log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from crc32c import crc32c

from ottla.model import Buffer
from ottla.storage.batches.held_headers import (
    CANCEL_START,
    asked_of,
    due_of,
    origin_of,
)
from ottla.storage.delays.cancellations import UNDECIDED, Cancellations
from ottla.storage.delays.due_entry import DueEntry
from ottla.storage.delays.due_queue import DueQueue
from ottla.storage.delays.held_counts import HeldCounts
from ottla.storage.delays.unsettled_releases import UnsettledReleases
from ottla.wire.records.batch import read_body
from ottla.wire.records.control import ControlRecordType, read_marker_batch
from ottla.wire.records.encoded_record import split_record, split_records
from ottla.wire.records.header import HEADER_BYTES, BatchHeader, TimestampType
from ottla.wire.records.record import WalkedRecord, walk_records

# Records between two steps: less than a millisecond.
_STEP_RECORDS: Final = 200
# Batches of open transactions, of some 200 bytes of memory each.
OPEN_BATCHES_MAX: Final = 100_000


class HeldBatch(NamedTuple):
    """Where a held batch of an open transaction is."""

    base_offset: int
    segment: int
    position: int
    size: int
    record_count: int


class HeldIndex:
    """Owned by the leader of a partition."""

    def __init__(self, queue: DueQueue, segment_of: Callable[[int], int]) -> None:
        self.queue = queue
        self.counts = HeldCounts()
        self.cancellations = Cancellations()
        self.unsettled = UnsettledReleases()
        self._segment_of = segment_of
        # By producer id.
        self._open: dict[int, list[HeldBatch]] = {}
        self.open_batches = 0
        self.open_records = 0
        self.open_size = 0
        self._latest_due_ms = 0

    def oldest_offset(self) -> int | None:
        """The first offset that is still needed; None if nothing is."""
        offsets = [batches[0].segment for batches in self._open.values()]
        others = self.counts.oldest(), self.unsettled.oldest()
        offsets += [each for each in others if each is not None]
        return min(offsets, default=None)

    # ---- batches

    def hold(
        self, data: Buffer, at: int, header: BatchHeader, *, segment: int, position: int
    ) -> Iterator[None]:
        """Takes a held batch in steps; `position` is where it is in the segment's file."""
        if header.is_transactional:
            size, records = header.size_in_bytes, header.record_count
            batch = HeldBatch(header.base_offset, segment, position, size, records)
            self._open.setdefault(header.producer_id, []).append(batch)
            self._count_open(batch, 1)
            return
        yield from self.hold_committed(data, at, header, segment=segment, position=position)

    def hold_committed(
        self, data: Buffer, at: int, header: BatchHeader, *, segment: int, position: int
    ) -> Iterator[None]:
        body = read_body(data, at, header)
        has_cancellations = CANCEL_START in body
        is_stamped = header.timestamp_type is TimestampType.LOG_APPEND_TIME
        add, count = self.queue.add, 0
        for walked in walk_records(body, header.record_count):
            start, end, timestamp_delta, offset_delta, *_ = walked
            offset = header.base_offset + offset_delta
            if has_cancellations and self._cancels(body, walked, offset):
                continue
            # The leader that held the batch has added the header where it was missing.
            due_ms = due_of(body, start, end) or 0
            self._latest_due_ms = max(self._latest_due_ms, due_ms)
            size = end - start
            add(
                DueEntry(
                    due_ms,
                    offset,
                    size,
                    position + HEADER_BYTES + start,
                    header.max_timestamp if is_stamped else header.base_timestamp + timestamp_delta,
                    crc32c(body[start:end]),
                )
            )
            self.counts.add(segment, size)
            count += 1
            if not count % _STEP_RECORDS:
                yield

    def release(
        self, data: Buffer, at: int, header: BatchHeader, *, log_start_offset: int
    ) -> Iterator[None]:
        """Takes a batch of released records, which are no longer held."""
        body = read_body(data, at, header)
        oldest_offset: int = header.base_offset
        for count, record in enumerate(split_records(body, header.record_count)):
            origin = origin_of(record)
            if origin is not None and origin.held_offset >= log_start_offset:
                self.queue.add(DueEntry(origin.due_ms, origin.held_offset))
                self.counts.remove(self._segment_of(origin.held_offset))
                oldest_offset = min(oldest_offset, origin.held_offset)
            if not count % _STEP_RECORDS:
                yield
        self.unsettled.add(header.next_offset, oldest_offset)
        self._maybe_clear()

    def committed_by(self, data: Buffer, at: int, header: BatchHeader) -> list[HeldBatch]:
        """The held batches that a marker commits: they have to be read before it is taken."""
        batches = self._open.get(header.producer_id)
        if not batches:
            return []
        marker = read_marker_batch(memoryview(data)[at : at + header.size_in_bytes])
        return batches if marker.type is ControlRecordType.COMMIT else []

    def end_transaction(self, producer_id: int) -> None:
        """Takes a marker, after what it commits."""
        for batch in self._open.pop(producer_id, ()):
            self._count_open(batch, -1)
        self._maybe_clear()

    def _count_open(self, batch: HeldBatch, sign: int) -> None:
        self.open_batches += sign
        self.open_records += sign * batch.record_count
        self.open_size += sign * batch.size

    # ---- records

    def removed(self, entries: Sequence[DueEntry], end_offset: int) -> None:
        """This leader has released records, or found them cancelled, with what is in the log before
        `end_offset`."""
        self.unsettled.add(end_offset, min(entry.offset for entry in entries))
        for entry in entries:
            self.counts.remove(self._segment_of(entry.offset))
        self._maybe_clear()

    def forget_cancellations(self, first_due_ms: int | None) -> None:
        """Given when the first of the held records is due, or None if none is held."""
        self.cancellations.forget_unneeded(
            first_due_ms=UNDECIDED if first_due_ms is None else first_due_ms,
            latest_due_ms=self._latest_due_ms,
            open_from=min((each[0].base_offset for each in self._open.values()), default=None),
        )

    def _maybe_clear(self) -> None:
        if self._is_empty:
            self.cancellations.clear()

    @property
    def _is_empty(self) -> bool:
        """Whether there is nothing that could be cancelled."""
        return not (self.counts.records or self._open)

    def _cancels(self, body: bytes, walked: WalkedRecord, offset: int) -> bool:
        record, _ = split_record(body, walked[0])
        if not asked_of(record).is_cancel:
            return False
        if record.key is not None and not self._is_empty:
            until_ms = UNDECIDED if self._open else self._latest_due_ms
            self.cancellations.add(record.key, offset, needed_until_ms=until_ms)
        return True
