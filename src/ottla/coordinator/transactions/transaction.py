"""A transactional id with its producer and its transaction, as an immutable value.

The functions in `initializing`, `adding` and `ending` return the next value. The coordinator
appends that value to its log before it replaces the current one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from ottla.coordinator.transactions.states import PREVIOUS_STATES, TransactionState
from ottla.coordinator.transactions.versions import TV_0
from ottla.model import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    ErrorCode,
    KafkaError,
    TopicPartition,
)

# A client never gets the maximum epoch, so that a higher one can always fence it.
EPOCH_MAX: Final = 32_767
CLIENT_EPOCH_MAX: Final = EPOCH_MAX - 1
NOT_STARTED: Final = -1
# A transaction without a timeout belongs to an external coordinator (KIP-939).
NO_TIMEOUT_MS: Final = 2**31 - 1
NO_PARTITIONS: Final[frozenset[TopicPartition]] = frozenset()


class Transaction(NamedTuple):
    """The fields of Kafka's record, and `last_producer_epoch`, which is not in the log: a retry
    after a failover is not recognised, and the producer is fenced."""

    transactional_id: str
    producer_id: int
    timeout_ms: int
    producer_epoch: int = NO_PRODUCER_EPOCH
    # The previous epoch, for a producer that retries because a response was lost.
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    # The producer id before the last change, and the one after the markers are written.
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = NO_PARTITIONS
    start_ms: int = NOT_STARTED
    updated_ms: int = NOT_STARTED
    # The `transaction.version` of the last change.
    client_version: int = TV_0

    @property
    def is_epoch_exhausted(self) -> bool:
        return is_exhausted(self.producer_epoch)

    @property
    def is_two_phase(self) -> bool:
        return self.timeout_ms == NO_TIMEOUT_MS

    @property
    def is_committing(self) -> bool:
        assert self.state.is_prepared
        return self.state is TransactionState.PREPARE_COMMIT

    def become(self, state: TransactionState, **changes: Any) -> Transaction:
        """A changed copy, with the current producer id as `previous_producer_id`."""
        assert self.state in PREVIOUS_STATES[state], f"{self.state.title} to {state.title}"
        changes["state"], changes["previous_producer_id"] = state, self.producer_id
        # Inlines `_replace` for speed: every transaction changes at least three times.
        after = _new(Transaction, map(changes.pop, self._fields, self))
        assert not changes, f"a transaction has no {', '.join(changes)}"
        assert 0 <= after.producer_epoch <= EPOCH_MAX
        assert after.producer_id >= 0
        return after

    def require_completed(self) -> None:
        """Raises CONCURRENT_TRANSACTIONS, which clients retry, while the markers of the last
        transaction are being written."""
        if self.state.is_prepared:
            raise KafkaError(
                ErrorCode.CONCURRENT_TRANSACTIONS,
                f"the previous transaction of {self.transactional_id!r} is still being completed",
            )


_new: Callable[[type[Transaction], Iterable[Any]], Transaction] = tuple.__new__


def is_exhausted(producer_epoch: int) -> bool:
    return producer_epoch >= CLIENT_EPOCH_MAX
