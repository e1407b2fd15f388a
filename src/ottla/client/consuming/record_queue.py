"""The fetched records of one partition that the application has not got yet.

    fetched responses ──batch by batch──▶ decoded records of one batch ──▶ application

The position moves when records are handed out, not when they are decoded.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.client.consuming.decoding.fetched_batches import DataBatch, FetchedBatches
from ottla.client.consuming.decoding.record_loop import decode_records
from ottla.client.records import ConsumedRecord
from ottla.model import TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.records.batch import read_body

if TYPE_CHECKING:
    import pyarrow as pa

# Decoding is a single step for the event loop, so columns are made of so many bytes at most.
_COLUMN_BYTES_MAX: Final = 4 * 1024 * 1024


class ReadPosition(NamedTuple):
    """The offset of the next record, and the leader epoch of the last one read (-1: unknown)."""

    offset: int
    leader_epoch: int = -1


class RecordQueue:
    """Belongs to one assignment of a partition, from one seek to the next. Every method that
    decodes raises ProtocolError; the corrupt batch then stays the next one."""

    def __init__(self, partition: TopicPartition, position: ReadPosition) -> None:
        self._partition = partition
        # The position before the current batch.
        self._start = position
        self._responses: deque[tuple[FetchedBatches, int]] = deque()
        # Batches before the next response, given back because columns could not be made of them.
        self._ahead: deque[DataBatch] = deque()
        # The batch that is being handed out, and its records from the start on once decoded.
        self._batch: DataBatch | None = None
        self._records: list[ConsumedRecord] | None = None
        self._next = 0
        # The bytes of the responses of which anything is left.
        self.byte_count = 0

    def __bool__(self) -> bool:
        """Whether anything is left, even if it is only to be skipped."""
        if self._records is None:
            return self._batch is not None or bool(self._ahead) or bool(self._responses)
        return self._next < len(self._records) or bool(self._ahead) or bool(self._responses)

    @property
    def position(self) -> ReadPosition:
        batch, records = self._batch, self._records
        if batch is None or records is None:
            return self._start
        if self._next == len(records):
            return ReadPosition(batch.header.last_offset + 1, batch.header.leader_epoch)
        if not self._next:
            return self._start
        return ReadPosition(records[self._next - 1].offset + 1, batch.header.leader_epoch)

    def append(self, fetched: FetchedBatches, byte_count: int) -> None:
        self._responses.append((fetched, byte_count))
        self.byte_count += byte_count

    def clear(self) -> None:
        """Drops everything that was not handed out."""
        self._start = self.position
        self._batch, self._records, self._next = None, None, 0
        self._ahead.clear()
        while self._responses:
            self._responses.popleft()[0].close()
        self.byte_count = 0

    def take(self, count_max: int) -> list[ConsumedRecord]:
        """The next records, of any number of batches."""
        taken: list[ConsumedRecord] = []
        try:
            while len(taken) < count_max and (part := self.take_chunk(count_max - len(taken))):
                taken += part
        except ProtocolError:
            # Raised again by the next call, after these records.
            if not taken:
                raise
        return taken

    def take_chunk(self, count_max: int) -> list[ConsumedRecord]:
        """The next records of one batch, which `take_back` can return. Empty if there are none."""
        while (records := self._decoded()) is not None:
            first, self._next = self._next, min(self._next + count_max, len(records))
            if self._next > first:
                return records[first : self._next]
            # Compaction or an earlier position has left none of its records.
            self._finish_batch()
        return []

    def take_back(self, count: int) -> None:
        """Undoes the end of the last `take_chunk`."""
        assert 0 <= count <= self._next
        self._next -= count

    def take_columns(self, count_max: int | None) -> pa.RecordBatch | None:
        """The next records of some batches as columns; at most `count_max`."""
        start = self.position
        batches = self._take_batches(count_max)
        if not batches:
            return None
        try:
            rows = self._decode_arrow(batches, start)
        except ProtocolError:
            # Only the corrupt one is to blame: continue with the first.
            self._ahead.extendleft(reversed(batches[1:]))
            self._batch = batches[0]
            del batches[1:]
            rows = self._decode_arrow(batches, start)
        header = batches[-1].header
        if count_max is not None and rows.num_rows > count_max:
            rows = rows.slice(0, count_max)
            self._batch = batches[-1]
            self._start = ReadPosition(rows["offset"][-1].as_py() + 1, header.leader_epoch)
        else:
            self._batch = None
            self._start = ReadPosition(header.last_offset + 1, header.leader_epoch)
        return rows

    def _take_batches(self, count_max: int | None) -> list[DataBatch]:
        self._start, self._records, self._next = self.position, None, 0
        room = _COLUMN_BYTES_MAX if count_max is None else count_max
        batches: list[DataBatch] = []
        try:
            while room > 0 and (batch := self._next_batch()) is not None:
                batches.append(batch)
                room -= len(batch.data) if count_max is None else batch.header.record_count
                self._batch = None
        except ProtocolError:
            if not batches:
                raise
        return batches

    def _decode_arrow(self, batches: list[DataBatch], start: ReadPosition) -> pa.RecordBatch:
        from ottla.client.consuming.decoding.arrow import decode_arrow

        topic, partition = self._partition
        return decode_arrow(batches, topic=topic, partition=partition, start=start.offset)

    def _decoded(self) -> list[ConsumedRecord] | None:
        """The records of the current batch, or of the next one if it is used up."""
        if self._records is not None and self._next < len(self._records):
            return self._records
        batch = self._next_batch()
        if batch is None:
            return None
        if self._records is None:
            header, (topic, partition) = batch.header, self._partition
            body = read_body(batch.data, 0, header)
            records = decode_records(body, header, topic=topic, partition=partition)
            if header.base_offset < self._start.offset:
                records = [each for each in records if each.offset >= self._start.offset]
            self._records, self._next = records, 0
        return self._records

    def _next_batch(self) -> DataBatch | None:
        """The current batch, or the next one if it is used up. Passes what is to be skipped."""
        if self._records is not None and self._next == len(self._records):
            self._finish_batch()
        if self._batch is None and self._ahead:
            self._batch = self._ahead.popleft()
        while self._batch is None and self._responses:
            fetched, byte_count = self._responses[0]
            self._batch = fetched.next()
            if self._batch is None:
                self._responses.popleft()
                self.byte_count -= byte_count
                if fetched.next_offset > self._start.offset:
                    self._start = ReadPosition(fetched.next_offset, fetched.leader_epoch)
        return self._batch

    def _finish_batch(self) -> None:
        self._start = self.position
        self._batch, self._records, self._next = None, None, 0
