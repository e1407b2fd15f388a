"""Carries out a commit or abort: writes the markers once it is committed, then completes it.

    prepared ──committed──▶ writing markers ──all written──▶ complete
       │ not committed in time, or this node is a new coordinator
       └──▶ checked again

No marker or response may leave before the decision is committed: a failover could revert the
decision, but the markers would remain. The coordinator itself also aborts transactions that exceed
their timeout.
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

# The retry delay after a record was not committed in time or could not be appended.
_RETRY_MS: Final = 500


class TransactionDecisions:
    """Part of a coordinator, whose state it reads and stages."""

    def __init__(self, context: TransactionContext, state: TransactionReplay) -> None:
        self._context = context
        self._timers = context.timers
        self._state = state
        self._transactions = state.transactions

    def decided(self, transaction: Transaction, response: Struct | None) -> Outcome:
        """Appends a prepared transaction and carries it out. The response is sent before the
        markers are written, so the client does not wait for them."""
        assert transaction.state.is_prepared
        carry_on = partial(self._carry_on, transaction.transactional_id)
        return Outcome([self._state.stage(transaction)], response, afterwards=carry_on)

    def fence(self, transaction: Transaction, response: Struct | None = None) -> Outcome:
        """Aborts the transaction on the coordinator's own decision, and fences its producer."""
        after = fence(
            transaction,
            self._context.new_producer_id,
            server_version=self._context.server_version,
            now_ms=self._context.clock.now_ms(),
        )
        return self.decided(after, response)

    def resume(self, transaction: Transaction) -> None:
        """Continues a transaction that the log shows as prepared, when this node becomes the
        coordinator."""
        assert transaction.state.is_prepared
        self._look_again(transaction, delay_ms=0)

    def _carry_on(self, transactional_id: str, error: ErrorCode) -> Outcome:
        transaction = self._transactions.get(transactional_id)
        if transaction is None or not transaction.state.is_prepared:
            # It was not appended. The client gets an error and may retry.
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
        """The markers are written; on an error, only the record is appended again."""
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

    # ---- timeouts

    def opened(self, transaction: Transaction) -> None:
        """The transaction is ongoing: schedules its timeout. The start time may come from another
        node's clock, or from this one's before an adjustment, so the remaining time is limited to
        the transaction's timeout."""
        left_ms = transaction.start_ms + transaction.timeout_ms - self._context.clock.now_ms()
        self._schedule_timeout(transaction, delay_ms=min(max(left_ms, 0), transaction.timeout_ms))

    def _schedule_timeout(self, transaction: Transaction, *, delay_ms: int) -> None:
        if transaction.is_two_phase:
            # An external coordinator decides, without a time limit.
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
        # Retries the abort, unless it succeeds now.
        self._schedule_timeout(transaction, delay_ms=_RETRY_MS)
        outcome = self.fence(transaction)
        self._context.metrics.timed_out.add()
        return outcome
