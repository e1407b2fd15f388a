"""Hands records to the application: poll, columns and iteration."""

from __future__ import annotations

import asyncio
import logging
import operator
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ottla.client.consuming.assigned_partition import AssignedPartition
from ottla.client.consuming.assignment import PartitionAssignment
from ottla.client.consuming.errors import UnreadableRecordsError
from ottla.client.consuming.metrics import ConsumerMetrics
from ottla.client.errors import ClientError, IllegalStateError
from ottla.client.groups.turns import ApplicationTurns
from ottla.client.records import ConsumedRecord
from ottla.runtime.clock import Clock
from ottla.wire.errors import ProtocolError

if TYPE_CHECKING:
    import pyarrow as pa

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class _Chunk(NamedTuple):
    """Records of one batch that an `async for` is going through."""

    partition: AssignedPartition
    version: int
    records: list[ConsumedRecord]
    iterator: Iterator[ConsumedRecord]
    is_in_thread: bool


class RecordReading:
    """Belongs to a consumer. `on_poll` is called before records are handed out, `on_taken` after
    some were, because there is room to fetch more."""

    def __init__(
        self,
        clock: Clock,
        assignment: PartitionAssignment,
        *,
        metrics: ConsumerMetrics,
        records_max: int,
        on_poll: Callable[[], None],
        on_taken: Callable[[], None],
    ) -> None:
        self.turns = ApplicationTurns(clock, self._interrupt, self._progress)
        self._clock = clock
        self._assignment = assignment
        self._metrics = metrics
        self._records_max = records_max
        self._on_poll = on_poll
        self._on_taken = on_taken
        self._wake: asyncio.Future[None] | None = None
        self._errors: list[ClientError] = []
        self._chunk: _Chunk | None = None
        self._is_polling = False
        self.is_closed = False

    def fail(self, error: ClientError) -> None:
        """The next poll raises the error, once."""
        if not any(type(each) is type(error) and str(each) == str(error) for each in self._errors):
            self._errors.append(error)
        self._interrupt()

    def wake(self) -> None:
        """Ends the waiting of a poll; called when there may be records."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def settle(self) -> None:
        """Takes back what an `async for` has not come to yet, so that positions are exact and may
        be changed. The iteration goes on with what is next then."""
        chunk, self._chunk = self._chunk, None
        if chunk is None:
            return
        left = operator.length_hint(chunk.iterator)
        # Ends the iterator over this list.
        del chunk.records[len(chunk.records) - left :]
        if left and self._assignment.is_current(chunk.partition, chunk.version):
            chunk.partition.queue.take_back(left)
            self._metrics.count("records-consumed-total", -left)
            self._assignment.note_ready(chunk.partition)

    async def poll(self, timeout: float, records_max: int | None) -> list[ConsumedRecord]:
        count_max = records_max or self._records_max
        return await self._take(lambda: self._take_records(count_max), timeout) or []

    async def poll_columns(self, timeout: float, rows_max: int | None) -> pa.RecordBatch | None:
        return await self._take(lambda: self._take_columns(rows_max), timeout)

    async def iterate(self) -> AsyncIterator[ConsumedRecord]:
        while (records := await self.next_chunk()) is not None:
            for record in records:
                yield record

    async def next_chunk(self, *, is_in_thread: bool = False) -> Iterator[ConsumedRecord] | None:
        """The next records of one batch; the position is behind those that were taken from the
        iterator. With `is_in_thread`, another thread takes them: then nothing but its own calls
        cuts the iterator off. None when the consumer closes."""
        if self.is_closed:
            return None
        chunk = await self._take(lambda: self._take_chunk(is_in_thread), None)
        self._chunk = chunk
        return None if chunk is None else chunk.iterator

    # ----

    async def _take(self, take: Callable[[], _T | None], timeout: float | None) -> _T | None:
        """The first thing that `take` returns within the timeout, or until the consumer closes."""
        if self.is_closed:
            raise IllegalStateError("this consumer is closed")
        if self._is_polling:
            raise IllegalStateError("another task polls this consumer; only one may at a time")
        deadline = None if timeout is None else self._clock.monotonic() + timeout
        self._is_polling = True
        self.turns.begin_poll()
        try:
            self.settle()
            while True:
                await self.turns.serve()
                if self._errors:
                    raise self._errors.pop(0)
                self._on_poll()
                if (taken := take()) is not None:
                    self._metrics.count("poll-total")
                    self._on_taken()
                    return taken
                if self.is_closed or not await self._wait(deadline):
                    return None
        finally:
            self._is_polling = False
            self.turns.end_poll()

    async def _wait(self, deadline: float | None) -> bool:
        """Until something has happened. Returns False at the deadline."""
        if self.turns.is_requested or self._errors:
            return True
        seconds = None if deadline is None else deadline - self._clock.monotonic()
        if seconds is not None and seconds <= 0:
            return False
        self._wake = asyncio.get_running_loop().create_future()
        timer = None if seconds is None else self._clock.call_later(seconds, self.wake)
        try:
            await self._wake
        finally:
            self._wake = None
            if timer is not None:
                timer.cancel()
        return True

    def _interrupt(self) -> None:
        """A step of a rebalance, or an error, is not to wait for the rest of a chunk."""
        if self._chunk is not None and not self._chunk.is_in_thread:
            self.settle()
        self.wake()

    def _progress(self) -> object:
        """How far an `async for` has come."""
        chunk = self._chunk
        return None if chunk is None else (id(chunk.records), operator.length_hint(chunk.iterator))

    def _take_records(self, count_max: int) -> list[ConsumedRecord] | None:
        taken: list[ConsumedRecord] = []
        while len(taken) < count_max and (partition := self._assignment.next_ready()):
            try:
                part = partition.queue.take(count_max - len(taken))
            except ProtocolError as error:
                self._note_unreadable(partition, error)
                continue
            if not part and partition.queue:
                # The next batch cannot be read, and the records before it are handed out first.
                break
            taken = taken + part if taken else part
            self._assignment.serve_others(partition)
        self._metrics.count("records-consumed-total", len(taken))
        return taken or None

    def _take_columns(self, rows_max: int | None) -> pa.RecordBatch | None:
        while (partition := self._assignment.next_ready()) is not None:
            try:
                rows = partition.queue.take_columns(rows_max)
            except ProtocolError as error:
                self._note_unreadable(partition, error)
                continue
            self._assignment.serve_others(partition)
            if rows is not None and rows.num_rows:
                self._metrics.count("records-consumed-total", rows.num_rows)
                return rows
        return None

    def _take_chunk(self, is_in_thread: bool) -> _Chunk | None:
        while (partition := self._assignment.next_ready()) is not None:
            try:
                records = partition.queue.take_chunk(self._records_max)
            except ProtocolError as error:
                self._note_unreadable(partition, error)
                continue
            self._assignment.serve_others(partition)
            if records:
                self._metrics.count("records-consumed-total", len(records))
                return _Chunk(partition, partition.version, records, iter(records), is_in_thread)
        return None

    def _note_unreadable(self, partition: AssignedPartition, error: ProtocolError) -> None:
        """What cannot be read is fetched again, and an error if it is still the same."""
        offset = partition.queue.position.offset
        if partition.found_unreadable():
            self._errors.append(UnreadableRecordsError(partition.name, offset, str(error)))
        else:
            _log.warning("%s: fetching offset %d again: %s", partition.name, offset, error)
        self._assignment.serve_others(partition)
        self._on_taken()
