"""Hands the records of a share group to the application: poll and iteration."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import AsyncIterator, Callable, Iterator
from typing import NamedTuple, TypeVar

from ottla.client.errors import ClientError, IllegalStateError
from ottla.client.groups.turns import ApplicationTurns
from ottla.client.sharing.lease import Lease
from ottla.client.sharing.leases import Leases
from ottla.client.sharing.metrics import ShareConsumerMetrics
from ottla.client.sharing.outcomes import AcknowledgementOutcomes
from ottla.client.sharing.records import SharedRecord
from ottla.client.sharing.share_fetcher import ShareFetcher
from ottla.runtime.clock import Clock

_T = TypeVar("_T")


class _Chunk(NamedTuple):
    """Records that an `async for` is going through."""

    lease: Lease
    records: list[SharedRecord]
    iterator: Iterator[SharedRecord]


class ShareReading:
    """Belongs to a share consumer, which sets the fetcher."""

    fetcher: ShareFetcher

    def __init__(
        self,
        clock: Clock,
        leases: Leases,
        outcomes: AcknowledgementOutcomes,
        metrics: ShareConsumerMetrics,
        *,
        accepts: bool,
        records_max: int,
        require_subscription: Callable[[], None],
    ) -> None:
        self.turns = ApplicationTurns(clock, self.wake, self._progress)
        self.is_closed = False
        self._clock = clock
        self._leases = leases
        self._outcomes = outcomes
        self._metrics = metrics
        # The implicit mode: what was handed out is accepted by the next call.
        self._accepts = accepts
        self._records_max = records_max
        self._require_subscription = require_subscription
        self._wake: asyncio.Future[None] | None = None
        self._errors: list[ClientError] = []
        self._chunk: _Chunk | None = None
        self._is_polling = False

    def fail(self, error: ClientError) -> None:
        """The next poll raises the error, once."""
        if not any(type(each) is type(error) and str(each) == str(error) for each in self._errors):
            self._errors.append(error)
        self.wake()

    def wake(self) -> None:
        """Ends the waiting of a poll; called when there may be records."""
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def poll(self, timeout: float, records_max: int | None) -> list[SharedRecord]:
        count_max = records_max or self._records_max
        return await self._take(lambda: self._take_records(count_max), timeout) or []

    async def iterate(self) -> AsyncIterator[SharedRecord]:
        while (records := await self.next_chunk()) is not None:
            for record in records:
                yield record

    async def next_chunk(self) -> Iterator[SharedRecord] | None:
        """The next records of one response; None when the consumer closes."""
        if self.is_closed:
            return None
        self._chunk = chunk = await self._take(self._take_chunk, None)
        return None if chunk is None else chunk.iterator

    def settle(self, *, is_failed: bool = False) -> None:
        """Takes back what an `async for` has not come to yet; then, in the implicit mode, what was
        handed out is accepted. With `is_failed`, the application has failed while it processed
        records: without an iteration, none of the last poll is accepted; with one, all but the
        last."""
        chunk, self._chunk = self._chunk, None
        if chunk is not None:
            left = operator.length_hint(chunk.iterator)
            # Ends the iterator over this list.
            del chunk.records[len(chunk.records) - left :]
            chunk.lease.take_back(left + (is_failed and bool(chunk.records)))
            if chunk.lease.is_held:
                self._metrics.count("records-consumed-total", -left)
            self._leases.give_back(chunk.lease)
        if self._accepts and (chunk is not None or not is_failed):
            self._leases.accept_delivered()

    # ----

    async def _take(self, take: Callable[[], _T | None], timeout: float | None) -> _T | None:
        """The first thing that `take` returns within the timeout, or until the consumer closes."""
        if self.is_closed:
            raise IllegalStateError("this consumer is closed")
        self._require_subscription()
        if self._is_polling:
            raise IllegalStateError("another task polls this consumer; only one may at a time")
        deadline = None if timeout is None else self._clock.monotonic() + timeout
        self._is_polling = True
        self.turns.begin_poll()
        try:
            self.settle()
            while True:
                await self._outcomes.run_callbacks()
                if self._errors:
                    raise self._errors.pop(0)
                if (taken := take()) is not None:
                    self._metrics.count("poll-total")
                    return taken
                self.fetcher.is_polling = True
                self.fetcher.pump()
                if self.is_closed or not await self._wait(deadline):
                    return None
        finally:
            self._is_polling = False
            self.fetcher.is_polling = False
            self.turns.end_poll()

    async def _wait(self, deadline: float | None) -> bool:
        """Until something has happened. Returns False at the deadline."""
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

    def _progress(self) -> object:
        """How far an `async for` has come."""
        chunk = self._chunk
        return None if chunk is None else (id(chunk.records), operator.length_hint(chunk.iterator))

    def _take_records(self, count_max: int) -> list[SharedRecord] | None:
        taken: list[SharedRecord] = []
        while len(taken) < count_max and (lease := self._leases.next_waiting()) is not None:
            taken += self._leases.take(lease, count_max - len(taken))
        self._metrics.count("records-consumed-total", len(taken))
        return taken or None

    def _take_chunk(self) -> _Chunk | None:
        lease = self._leases.next_waiting()
        if lease is None:
            return None
        records = self._leases.take(lease, self._records_max)
        self._metrics.count("records-consumed-total", len(records))
        return _Chunk(lease, records, iter(records))
