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
from typing import Final, NamedTuple

from ottla.model import ErrorCode, KafkaError
from ottla.shares.delivery import AcknowledgedOffsets, Acquired, BatchOffsets, TakeOrder, Wish
from ottla.shares.delivery_settings import DeliverySettings
from ottla.shares.in_flight import RecordsInFlight
from ottla.shares.record_state import AcknowledgeType, RecordState
from ottla.shares.runs import NO_MEMBER, Change, DeadCause, Run
from ottla.shares.state_batch import StateBatch
from ottla.shares.taking import Taking, split_at_batches

_TARGETS: Final = {
    AcknowledgeType.GAP: RecordState.ARCHIVED,
    AcknowledgeType.ACCEPT: RecordState.ACKNOWLEDGED,
    AcknowledgeType.RELEASE: RecordState.AVAILABLE,
    AcknowledgeType.REJECT: RecordState.ARCHIVED,
}
# Why a record that is archived after this acknowledgement is dead; gaps have no records.
_CAUSES: Final = {
    AcknowledgeType.RELEASE: DeadCause.LIMIT,
    AcknowledgeType.REJECT: DeadCause.REJECTED,
}
_FOREVER: Final = float("inf")


class _Part(NamedTuple):
    """Offsets with one acknowledgement."""

    first: int
    last: int
    kind: AcknowledgeType
    delay_ms: int | None


class SharePartition(RecordsInFlight):
    """Created by the leader of the partition from the stored state."""

    def __init__(
        self,
        settings: Callable[[], DeliverySettings],
        *,
        start_offset: int,
        batches: Iterable[StateBatch],
        now: float,
    ) -> None:
        super().__init__(start_offset)
        self.settings = settings
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
        self.advance()

    # ---- reading

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
        spans: Sequence[BatchOffsets],
        *,
        fetch_offset: int,
        now: float,
        aborted: Sequence[BatchOffsets] = (),
        order: TakeOrder | None = None,
    ) -> list[Acquired]:
        """Locks available records among those that were read from `fetch_offset` on: the batches
        in `spans`, of which the `aborted` ones are archived."""
        if not spans or wish.records_max <= 0 or spans[-1].last < self.start_offset:
            return []
        self._archive_gaps(fetch_offset, spans)
        self.archive(aborted)
        taking = Taking(self, self.settings(), wish, spans, aborted, now, order)
        taking.take_available()
        taking.take_new()
        self.advance()
        return split_at_batches(taking.acquired, spans, wish.batch_size)

    def _archive_gaps(self, fetch_offset: int, spans: Sequence[BatchOffsets]) -> None:
        """The log has no records any more between the batches: compaction removed them."""
        at = max(fetch_offset, self.start_offset)
        for span in spans:
            if at >= self.end_offset:
                return
            self.archive_free(at, min(span.first, self.end_offset) - 1)
            at = max(at, span.last + 1)

    # ---- changes

    def acknowledge(
        self, member_id: str, batches: Iterable[AcknowledgedOffsets], *, now: float
    ) -> Change:
        """Returns the change to store. Renewed locks take effect at once. Raises
        INVALID_RECORD_STATE or INVALID_REQUEST, and then nothing has changed."""
        parts = [part for batch in batches for part in self._parts(batch)]
        settings, end = self.settings(), -1
        for first, last, kind, _ in parts:
            if first <= end:
                raise KafkaError(
                    ErrorCode.INVALID_RECORD_STATE, f"offset {first} is acknowledged twice"
                )
            end = last
            self._check_held(member_id, first, last)
            if kind is AcknowledgeType.RENEW and not settings.may_renew:
                raise KafkaError(
                    ErrorCode.INVALID_RECORD_STATE,
                    "Renewing acquisition locks is not enabled for the group.",
                )
        change = Change()
        for first, last, kind, delay_ms in parts:
            for run in self.runs.cut(first, last):
                if kind is AcknowledgeType.RENEW:
                    run.lock_ends = now + settings.lock_ms
                else:
                    target = self._target(run, _TARGETS[kind], settings)
                    change.add(run, target, _CAUSES.get(kind))
                    run.delay_ms = delay_ms
            if kind is AcknowledgeType.RENEW:
                self.runs.join(first, last)
        return change

    def _parts(self, batch: AcknowledgedOffsets) -> Iterable[_Part]:
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
            kind = AcknowledgeType(types[0])
            yield _Part(max(first, self.start_offset), batch.last, kind, batch.delay_ms)
            return
        begin = 0
        for index in range(1, len(types) + 1):
            if index == len(types) or types[index] != types[begin]:
                low, high = max(first + begin, self.start_offset), first + index - 1
                if low <= high:
                    yield _Part(low, high, AcknowledgeType(types[begin]), batch.delay_ms)
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
                target = self._target(run, RecordState.AVAILABLE, settings)
                change.add(run, target, DeadCause.LIMIT)
        return change

    def commit(self, change: Change, *, now: float) -> None:
        """The share coordinator has stored the change."""
        settings = self.settings()
        for run in change.runs:
            run.state, run.change, run.member_id, run.lock_ends = run.target, None, NO_MEMBER, 0
            if run.state is RecordState.AVAILABLE:
                delay = settings.retry_delay(run.delivery_count)
                if run.delay_ms is not None:
                    delay, run.delay_ms = run.delay_ms, None
                run.due = now + delay if delay else 0
        for run in change.runs:
            self.runs.join(run.first, run.last)
        self.advance()

    def roll_back(self, change: Change) -> None:
        """The change could not be stored: the records are acquired as before."""
        for run in change.runs:
            run.change = run.delay_ms = None
        for run in change.runs:
            self.runs.join(run.first, run.last)

    def log_start_moved(self, offset: int) -> None:
        """The log has no records below `offset` any more."""
        if offset > self.start_offset:
            self.runs.drop_before(offset)
            self.start_offset = offset
            self.end_offset = max(self.end_offset, offset)
            self.advance()
