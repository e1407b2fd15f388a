"""The state machine of a share group in one partition, on the partition's leader (KIP-932).

    start offset            end offset
    ▼                       ▼
    ├── in flight (runs) ───┤── not delivered yet ───

Records below the start offset are done: acknowledged or archived. Acquired records are locked for
one member until it acknowledges them or the lock ends.

Invariants: a record has at most one holder; a change of state (an acknowledgement, a release, the
end of a lock) takes effect when the share coordinator has stored it, and until then no other change
of these records begins; the start offset never goes back.

Times are milliseconds of the monotonic clock. Acquiring records is not stored: after a failover,
records that were acquired and not acknowledged are available again, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, Protocol

from ottla.model import ErrorCode, KafkaError
from ottla.shares.delivery_settings import DeliverySettings
from ottla.shares.record_state import AcknowledgeType, RecordState
from ottla.shares.runs import NO_MEMBER, Change, Run, Runs
from ottla.shares.state_batch import StateBatch

_TARGETS: Final = {
    AcknowledgeType.GAP: RecordState.ARCHIVED,
    AcknowledgeType.ACCEPT: RecordState.ACKNOWLEDGED,
    AcknowledgeType.RELEASE: RecordState.AVAILABLE,
    AcknowledgeType.REJECT: RecordState.ARCHIVED,
}
_FOREVER: Final = float("inf")


class Span(NamedTuple):
    """The offsets of a record batch in the log."""

    first: int
    last: int


class Acquired(NamedTuple):
    first: int
    last: int
    delivery_count: int


class Acknowledged(NamedTuple):
    """Offsets with their acknowledgement types: one for each, or one for all."""

    first: int
    last: int
    types: Sequence[int]


class Wish(NamedTuple):
    """What a fetch of a member asks for."""

    member_id: str
    records_max: int
    # Results are split where a batch of the log begins, if they have at least so many records.
    batch_size: int = 500
    # Never more than `records_max`; otherwise whole batches of the log are acquired.
    is_strict: bool = False


class TakeOrder(Protocol):
    """Decides which records a member may take (key_order.py)."""

    def may_take(self, offset: int, member_id: str) -> bool: ...

    def taken(self, offset: int, member_id: str) -> None: ...


class SharePartition:
    """Created by the leader of the partition from the stored state."""

    def __init__(
        self,
        settings: Callable[[], DeliverySettings],
        *,
        start_offset: int,
        batches: Iterable[StateBatch],
        now: float,
    ) -> None:
        self.settings = settings
        self.start_offset = start_offset
        self.end_offset = start_offset
        self.runs = Runs()
        delay = settings().retry_delay
        for batch in batches:
            if batch.last_offset < self.end_offset:
                continue
            # Records between stored batches were acquired and not acknowledged.
            self.extend(batch.first_offset, RecordState.AVAILABLE)
            state = RecordState(batch.delivery_state)
            first = max(batch.first_offset, self.end_offset)
            due = now + delay(batch.delivery_count) if state is RecordState.AVAILABLE else 0
            self.runs.append(Run(first, batch.last_offset, state, batch.delivery_count, due=due))
            self.end_offset = batch.last_offset + 1
        self._advance()

    # ---- reading

    @property
    def in_flight(self) -> int:
        return self.end_offset - self.start_offset

    @property
    def complete_count(self) -> int:
        """How many records in flight are done, or will be when their change is stored."""
        return sum(
            len(run) for run in self.runs if (run.target if run.change else run.state).is_terminal
        )

    def next_offset(self, now: float) -> int:
        """The first offset that can be acquired."""
        for run in self.runs:
            if run.is_free and run.due <= now:
                return run.first
        return self.end_offset

    def can_acquire(self, now: float) -> bool:
        has_room = self.in_flight < self.settings().locks_max
        return has_room or self.next_offset(now) < self.end_offset

    def held_by(self, member_id: str) -> int:
        return sum(len(run) for run in self.runs if run.is_held_by(member_id))

    def next_deadline(self, now: float) -> float:
        """When the next lock ends or the next retry delay is over; infinity without any."""
        deadline = _FOREVER
        for run in self.runs:
            if run.change is None:
                if run.state is RecordState.ACQUIRED:
                    deadline = min(deadline, run.lock_ends)
                elif run.state is RecordState.AVAILABLE and run.due > now:
                    deadline = min(deadline, run.due)
        return deadline

    # ---- acquiring

    def acquire(
        self,
        wish: Wish,
        spans: Sequence[Span],
        *,
        fetch_offset: int,
        now: float,
        aborted: Sequence[Span] = (),
        order: TakeOrder | None = None,
    ) -> list[Acquired]:
        """Locks available records among those that were read from `fetch_offset` on: the batches
        in `spans`, of which the `aborted` ones are archived."""
        if not spans or wish.records_max <= 0 or spans[-1].last < self.start_offset:
            return []
        self._archive_gap(fetch_offset, spans[0].first)
        self.archive(aborted)
        taking = _Taking(self, wish, spans, aborted, now, order)
        taking.take_available()
        taking.take_new()
        self._advance()
        return _split_at_batches(taking.acquired, spans, wish.batch_size)

    def _archive_gap(self, first: int, next_offset: int) -> None:
        """The log has no records at these offsets any more: compaction removed them."""
        if first < next_offset and first < self.end_offset:
            self._archive_free(max(first, self.start_offset), min(next_offset, self.end_offset) - 1)

    def archive(self, spans: Iterable[Span]) -> None:
        """Archives available records: those of aborted transactions."""
        for span in spans:
            first, last = max(span.first, self.start_offset), min(span.last, self.end_offset - 1)
            self._archive_free(first, last)

    def _archive_free(self, first: int, last: int) -> None:
        if first > last:
            return
        for run in self.runs.cut(first, last):
            if run.is_free:
                run.state, run.due = RecordState.ARCHIVED, 0
        self.runs.join(first, last)

    def extend(self, end_offset: int, state: RecordState) -> None:
        """Moves the end offset up; the records in between get this state."""
        if end_offset > self.end_offset:
            self.runs.append(Run(self.end_offset, end_offset - 1, state))
            self.end_offset = end_offset

    # ---- changes

    def acknowledge(self, member_id: str, batches: Iterable[Acknowledged], *, now: float) -> Change:
        """Returns the change to store. Renewed locks take effect at once. Raises
        INVALID_RECORD_STATE or INVALID_REQUEST, and then nothing has changed."""
        parts = [part for batch in batches for part in self._parts(batch)]
        settings = self.settings()
        for first, last, kind in parts:
            self._check_held(member_id, first, last)
            if kind is AcknowledgeType.RENEW and not settings.may_renew:
                raise KafkaError(
                    ErrorCode.INVALID_RECORD_STATE,
                    "Renewing acquisition locks is not enabled for the group.",
                )
        change = Change()
        for first, last, kind in parts:
            for run in self.runs.cut(first, last):
                if kind is AcknowledgeType.RENEW:
                    run.lock_ends = now + settings.lock_ms
                else:
                    change.add(run, self._target(run, _TARGETS[kind], settings))
            if kind is AcknowledgeType.RENEW:
                self.runs.join(first, last)
        return change

    def _parts(self, batch: Acknowledged) -> Iterable[tuple[int, int, AcknowledgeType]]:
        """The offsets of an acknowledgement from the start offset on, by type."""
        if batch.last < self.start_offset:
            return
        if not len(self.runs) or batch.last >= self.end_offset:
            raise KafkaError(
                ErrorCode.INVALID_RECORD_STATE if not len(self.runs) else ErrorCode.INVALID_REQUEST,
                f"offsets {batch.first} to {batch.last} are not in flight",
            )
        first, types = batch.first, batch.types
        if len(types) == 1:
            yield max(first, self.start_offset), batch.last, AcknowledgeType(types[0])
            return
        begin = 0
        for index in range(1, len(types) + 1):
            if index == len(types) or types[index] != types[begin]:
                low, high = max(first + begin, self.start_offset), first + index - 1
                if low <= high:
                    yield low, high, AcknowledgeType(types[begin])
                begin = index

    def _check_held(self, member_id: str, first: int, last: int) -> None:
        for run in self.runs.between(first, last):
            if not run.is_held_by(member_id):
                raise KafkaError(
                    ErrorCode.INVALID_RECORD_STATE,
                    f"the records at offsets {max(first, run.first)} to {min(last, run.last)} are "
                    "not locked by this member, or are being changed",
                )

    def _target(self, run: Run, wanted: RecordState, settings: DeliverySettings) -> RecordState:
        if wanted is RecordState.AVAILABLE and run.delivery_count >= settings.delivery_limit:
            return RecordState.ARCHIVED
        return wanted

    def release(self, member_id: str) -> Change:
        """Releases what the member holds: its session has ended."""
        return self._release(lambda run: run.is_held_by(member_id))

    def expire(self, now: float) -> Change:
        """Releases the records whose locks have ended."""
        return self._release(
            lambda run: (
                run.state is RecordState.ACQUIRED and run.change is None and run.lock_ends <= now
            )
        )

    def _release(self, is_released: Callable[[Run], bool]) -> Change:
        change, settings = Change(), self.settings()
        for run in self.runs:
            if is_released(run):
                change.add(run, self._target(run, RecordState.AVAILABLE, settings))
        return change

    def commit(self, change: Change, *, now: float) -> None:
        """The share coordinator has stored the change."""
        settings = self.settings()
        for run in change.runs:
            run.state, run.change, run.member_id, run.lock_ends = run.target, None, NO_MEMBER, 0
            if run.state is RecordState.AVAILABLE and settings.retry_delay_ms:
                run.due = now + settings.retry_delay(run.delivery_count)
        for run in change.runs:
            self.runs.join(run.first, run.last)
        self._advance()

    def roll_back(self, change: Change) -> None:
        """The change could not be stored: the records are acquired as before."""
        for run in change.runs:
            run.change = None
        for run in change.runs:
            self.runs.join(run.first, run.last)

    def log_start_moved(self, offset: int) -> None:
        """The log has no records below `offset` any more."""
        if offset > self.start_offset:
            self.runs.drop_before(offset)
            self.start_offset = offset
            self.end_offset = max(self.end_offset, offset)
            self._advance()

    def _advance(self) -> None:
        """Moves the start offset past records that are done."""
        next_offset = self.runs.drop_done()
        if next_offset is not None:
            self.start_offset = next_offset


class _Taking:
    """One acquisition."""

    def __init__(
        self,
        partition: SharePartition,
        wish: Wish,
        spans: Sequence[Span],
        aborted: Sequence[Span],
        now: float,
        order: TakeOrder | None,
    ) -> None:
        self._partition = partition
        self._settings = partition.settings()
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
        """The end of the log's batch with this offset, unless the limit is strict."""
        if self._wish.is_strict:
            return offset
        return next((span.last for span in self._spans if span.last >= offset), offset)

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


def _split_at_batches(
    acquired: Iterable[Acquired], spans: Sequence[Span], batch_size: int
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
