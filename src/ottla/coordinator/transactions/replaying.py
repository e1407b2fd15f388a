"""Replays the records of `__transaction_state` into the transactional ids of one partition."""

from __future__ import annotations

import logging
from typing import ClassVar, Final

from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.coordinator.transactions.completions import Completions
from ottla.coordinator.transactions.context import TransactionContext
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import Transaction
from ottla.coordinator.transactions.transaction_records import read_transaction, transaction_record
from ottla.coordinator.transactions.transactions import Transactions
from ottla.wire.schema import Message
from ottla.wire.stored.coordinator_records import TRANSACTION_RECORDS, CoordinatorRecords
from ottla.wire.stored.transactions import TransactionLogKey, TransactionLogValue

_log = logging.getLogger(__name__)

_COMPLETE: Final = (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)


class TransactionReplay:
    """The part of a transaction coordinator that replays the log."""

    record_types: ClassVar[CoordinatorRecords] = TRANSACTION_RECORDS

    def __init__(self, context: TransactionContext) -> None:
        self._context = context
        self.transactions = Transactions()
        self.completions = Completions(context.timers)
        # The start times of ongoing transactions, roughly in this order.
        self.open_since: dict[str, int] = {}
        self._is_loaded = False
        # The transaction to append next. Its record does not contain all its fields.
        self._staged: Transaction | None = None

    def replay(
        self,
        key: Message,
        value: Message | None,
        *,
        offset: int,
        producer_id: int,  # noqa: ARG002 - the protocol's signature
    ) -> None:
        assert isinstance(key, TransactionLogKey)
        staged, self._staged = self._staged, None
        before = self.transactions.by_id.get(key.transactional_id)
        if value is None:
            self.transactions.remove(key.transactional_id)
            self._close(key.transactional_id)
            return
        assert isinstance(value, TransactionLogValue)
        if staged is not None and staged.transactional_id == key.transactional_id:
            assert staged.producer_epoch == value.producer_epoch
            after: Transaction | None = staged
        else:
            after = read_transaction(key.transactional_id, value)
        if after is None:
            _log.warning("the transaction at offset %d has an unknown state", offset)
            return
        self.transactions.by_id[after.transactional_id] = after
        if self._is_loaded:
            self._changed(before, after)

    def replay_end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        """Does nothing: this topic has no transactional records."""

    def stage(self, transaction: Transaction) -> CoordinatorRecord:
        """Returns the record of the transaction's next value, and keeps that value for `replay`."""
        self._staged = transaction
        version = self._context.transaction_version_now()
        return transaction_record(transaction, server_version=version)

    def _changed(self, before: Transaction | None, after: Transaction) -> None:
        if after.state is TransactionState.ONGOING:
            if before is None or before.state is not TransactionState.ONGOING:
                self._open(after)
            return
        self._close(after.transactional_id)
        metrics = self._context.metrics
        if after.state in _COMPLETE:
            is_commit = after.state is TransactionState.COMPLETE_COMMIT
            (metrics.committed if is_commit else metrics.aborted).add()
            self.completions.completed(after.transactional_id)

    def _open(self, transaction: Transaction) -> None:
        self.open_since[transaction.transactional_id] = transaction.start_ms
        self.opened(transaction)

    def _close(self, transactional_id: str) -> None:
        self.open_since.pop(transactional_id, None)

    def opened(self, transaction: Transaction) -> None:
        """Called when a transaction becomes ongoing."""
        raise NotImplementedError
