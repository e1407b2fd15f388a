"""Locks available records for a member."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.shares.delivery import Acquired, BatchOffsets, TakeOrder, Wish
from ottla.shares.delivery_settings import DeliverySettings
from ottla.shares.in_flight import RecordsInFlight
from ottla.shares.record_state import RecordState


class Taking:
    """One acquisition."""

    def __init__(
        self,
        partition: RecordsInFlight,
        settings: DeliverySettings,
        wish: Wish,
        spans: Sequence[BatchOffsets],
        aborted: Sequence[BatchOffsets],
        now: float,
        order: TakeOrder | None,
    ) -> None:
        self._partition = partition
        self._settings = settings
        self._wish = wish
        self._spans = spans
        self._aborted = aborted
        self._now = now
        self._order = order
        self._left = wish.records_max
        self._is_alone = False
        self.acquired: list[Acquired] = []

    def take_available(self) -> None:
        """Takes records in flight that are available."""
        partition, settings = self._partition, self._settings
        first = max(self._spans[0].first, partition.start_offset)
        last = min(self._spans[-1].last, partition.end_offset - 1)
        for run in partition.runs.between(first, last) if first <= last else ():
            if self._left <= 0 or self._is_alone:
                return
            if not run.is_free or run.due > self._now:
                continue
            low, high = max(first, run.first), min(last, run.last)
            count = run.delivery_count
            if count >= settings.throttled_from:
                # Records that were delivered often are delivered with few others, and with none
                # the last time.
                if self.acquired:
                    return
                self._is_alone = True
                size = len(run) >> (count - settings.throttled_from + 1)
                if settings.delivery_limit > settings.throttled_from:
                    size = 1 if count == settings.delivery_limit - 1 else size
                high = min(high, low + max(size, 1) - 1)
            self._take(low, high, count + 1)

    def take_new(self) -> None:
        """Takes records that were never delivered, as far as there is room for them."""
        partition = self._partition
        room = self._settings.locks_max - partition.in_flight
        last = self._spans[-1].last
        if self._left <= 0 or self._is_alone or room <= 0 or last < partition.end_offset:
            return
        first = max(partition.end_offset, self._spans[0].first)
        if not len(partition.runs):
            partition.start_offset = partition.end_offset = first
        else:
            partition.extend(first, RecordState.ARCHIVED)
        last = min(last, self._batch_end(first + min(self._left, room) - 1))
        partition.extend(last + 1, RecordState.AVAILABLE)
        partition.archive(self._aborted)
        self._take(first, last, 1)

    def _batch_end(self, offset: int) -> int:
        """The end of the log's batch with this offset, unless the limit is strict. A gap between
        batches, which may be long, does not count as part of the next one."""
        if self._wish.is_strict:
            return offset
        spans = self._spans
        return next((span.last for span in spans if span.first <= offset <= span.last), offset)

    def _take(self, first: int, last: int, delivery_count: int) -> None:
        last = min(last, self._batch_end(first + self._left - 1))
        if self._order is None:
            self._lock(first, last, delivery_count)
            return
        begin = None
        for offset in range(first, last + 1):
            if self._order.may_take(offset, self._wish.member_id):
                self._order.taken(offset, self._wish.member_id)
                begin = offset if begin is None else begin
            elif begin is not None:
                self._lock(begin, offset - 1, delivery_count)
                begin = None
        if begin is not None:
            self._lock(begin, last, delivery_count)

    def _lock(self, first: int, last: int, delivery_count: int) -> None:
        runs, lock_ends = self._partition.runs, self._now + self._settings.lock_ms
        for run in runs.cut(first, last):
            if not run.is_free:
                # An aborted batch among new records.
                continue
            run.state, run.delivery_count = RecordState.ACQUIRED, delivery_count
            run.member_id, run.lock_ends, run.due = self._wish.member_id, lock_ends, 0
            self.acquired.append(Acquired(run.first, run.last, delivery_count))
            self._left -= len(run)
        runs.join(first, last)


def split_at_batches(
    acquired: Iterable[Acquired], spans: Sequence[BatchOffsets], batch_size: int
) -> list[Acquired]:
    """Joins adjacent results, and splits them where a batch of the log begins."""
    joined: list[Acquired] = []
    for each in acquired:
        last = joined[-1] if joined else None
        if last and last.last + 1 == each.first and last.delivery_count == each.delivery_count:
            joined[-1] = last._replace(last=each.last)
        else:
            joined.append(each)
    result: list[Acquired] = []
    for each in joined:
        first = each.first
        if len(range(first, each.last + 1)) > batch_size:
            for span in spans:
                if first + batch_size <= span.first <= each.last:
                    result.append(each._replace(first=first, last=span.first - 1))
                    first = span.first
        result.append(each._replace(first=first))
    return result
