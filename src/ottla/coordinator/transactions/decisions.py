"""What follows from a decision: markers, once it is committed, and then the end.

    decided ──committed──▶ markers wanted ──all written──▶ complete
       │ not committed in time, or this node is new here
       └──▶ looked at again

Nobody may know of a decision before it is committed: a failover could take it back, and the markers
would stay. The coordinator also decides by itself, to abort what has taken too long.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from ottla.coordinator.runtime.outcome import NOTHING, Outcome
from ottla.coordinator.transactions.context import TransactionContext
from ottla.coordinator.transactions.ending import complete, fence
from ottla.coordinator.transactions.markers import markers_of
from ottla.coordinator.transactions.replaying import TransactionReplay
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.model import ErrorCode
from ottla.wire.schema import Struct

# What was not committed in time, or could not be appended, is looked at again after this.
_RETRY_MS: Final = 500


class TransactionDecisions:
    """Part of a coordinator, whose state it reads and stages."""

    def __init__(self, context: TransactionContext, state: TransactionReplay) -> None:
        self._context = context
        self._timers = context.timers
        self._state = state
        self._transactions = state.transactions

    def decided(self, transaction: Transaction, response: Struct | None) -> Outcome:
        """A transaction with its decision, to be written and carried out. The answer goes first:
        whoever asked does not wait for the markers."""
        assert transaction.state.is_prepared
        carry_on = partial(self._carry_on, transaction.transactional_id)
        return Outcome([self._state.stage(transaction)], response, afterwards=carry_on)

    def fence(self, transaction: Transaction, response: Struct | None = None) -> Outcome:
        """The coordinator's own decision, which no producer asked for."""
        after = fence(
            transaction,
            self._context.new_producer_id,
            server_version=self._context.server_version,
            now_ms=self._context.clock.now_ms(),
        )
        return self.decided(after, response)

    def resume(self, transaction: Transaction) -> None:
        """For what is decided in the log already, when this node begins to coordinate."""
        assert transaction.state.is_prepared
        self._look_again(transaction, delay_ms=0)

    def _carry_on(self, transactional_id: str, error: ErrorCode) -> Outcome:
        transaction = self._transactions.get(transactional_id)
        if transaction is None or not transaction.state.is_prepared:
            # It was not even appended: whoever asked is told so, and asks again or not.
            return NOTHING
        if error:
            self._look_again(transaction, delay_ms=_RETRY_MS)
            return NOTHING
        return self._write_markers(transaction)

    def _look_again(self, transaction: Transaction, *, delay_ms: int) -> None:
        outcome = Outcome(on_committed=partial(self._carry_on, transaction.transactional_id))
        key = ("decision", transaction.transactional_id)
        self._timers.schedule(key, delay_ms=delay_ms, operation=lambda: outcome)

    # ---- markers

    def _write_markers(self, transaction: Transaction) -> Outcome:
        if transaction.partitions:
            self._context.markers.write(markers_of(transaction))
            return NOTHING
        return self.complete(
            transaction.transactional_id,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
        )

    def complete(self, transactional_id: str, *, producer_id: int, producer_epoch: int) -> Outcome:
        """All markers of this producer and epoch are written."""
        transaction = self._transactions.get(transactional_id)
        if (
            transaction is None
            or not transaction.state.is_prepared
            or (transaction.producer_id, transaction.producer_epoch)
            != (producer_id, producer_epoch)
        ):
            return NOTHING
        after = complete(transaction, now_ms=self._context.clock.now_ms())
        return Outcome(
            [self._state.stage(after)], on_committed=partial(self._complete_again, transaction)
        )

    def _complete_again(self, transaction: Transaction, error: ErrorCode) -> Outcome:
        """The markers are there: only the record may have to be appended once more."""
        if error:
            operation = partial(
                self.complete,
                transaction.transactional_id,
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
            )
            key = ("complete", transaction.transactional_id)
            self._timers.schedule(key, delay_ms=_RETRY_MS, operation=operation)
        return NOTHING

    # ---- time

    def opened(self, transaction: Transaction) -> None:
        """A transaction is ongoing from now on. Another node's clock may have said when it began,
        or this one's before it was set: however far they are apart, it has its timeout at most."""
        left_ms = transaction.start_ms + transaction.timeout_ms - self._context.clock.now_ms()
        self._schedule_timeout(transaction, delay_ms=min(max(left_ms, 0), transaction.timeout_ms))

    def _schedule_timeout(self, transaction: Transaction, *, delay_ms: int) -> None:
        if transaction.is_two_phase:
            # An outside coordinator decides, however long that takes.
            return
        operation = partial(self._time_out, transaction.transactional_id, transaction.start_ms)
        key = ("timeout", transaction.transactional_id)
        self._timers.schedule(key, delay_ms=delay_ms, operation=operation)

    def _time_out(self, transactional_id: str, start_ms: int) -> Outcome:
        transaction = self._transactions.get(transactional_id)
        if (
            transaction is None
            or transaction.state is not TransactionState.ONGOING
            or transaction.start_ms != start_ms
        ):
            return NOTHING
        # Unless something becomes of it now.
        self._schedule_timeout(transaction, delay_ms=_RETRY_MS)
        outcome = self.fence(transaction)
        self._context.metrics.timed_out.add()
        return outcome
