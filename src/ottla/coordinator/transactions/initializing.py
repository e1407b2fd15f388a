"""InitProducerId: a producer takes over a transactional id and fences the previous producer.

After an error, a producer can continue by sending its producer id and epoch (KIP-360): it gets the
next epoch if no other producer has taken over. A retry gets the same response.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import (
    NO_PARTITIONS,
    NOT_STARTED,
    Transaction,
    is_exhausted,
)
from ottla.model import NO_PRODUCER_EPOCH, ErrorCode, KafkaError

_FIRST_EPOCH: Final = 0


class ExpectedProducer(NamedTuple):
    """The producer id and epoch that a continuing producer sends."""

    producer_id: int
    producer_epoch: int


def initialize(
    transaction: Transaction,
    expected: ExpectedProducer | None,
    new_producer_id: Callable[[], int],
    *,
    timeout_ms: int,
    now_ms: int,
) -> Transaction:
    """The transactional id with the producer's next epoch. An ongoing transaction must be aborted
    before."""
    require_may_initialize(transaction, expected)
    producer_id, epoch = transaction.producer_id, transaction.producer_epoch
    is_retry = expected is not None and epoch not in (NO_PRODUCER_EPOCH, expected.producer_epoch)
    if is_retry:
        _require_last_epoch(transaction, expected)
        last_epoch = transaction.last_producer_epoch
    else:
        last_epoch = NO_PRODUCER_EPOCH if expected is None else epoch
        if is_exhausted(epoch):
            producer_id, epoch = new_producer_id(), _FIRST_EPOCH
        else:
            epoch += 1
    return transaction.become(
        TransactionState.EMPTY,
        producer_id=producer_id,
        producer_epoch=epoch,
        last_producer_epoch=last_epoch,
        timeout_ms=timeout_ms,
        partitions=NO_PARTITIONS,
        start_ms=NOT_STARTED,
        updated_ms=now_ms,
    )


def require_may_initialize(transaction: Transaction, expected: ExpectedProducer | None) -> None:
    transaction.require_completed()
    if expected is not None and not _is_known(transaction, expected):
        raise _fenced(transaction, expected)


def _is_known(transaction: Transaction, expected: ExpectedProducer) -> bool:
    # A new transactional id accepts any producer. A producer that has exhausted its epochs may not
    # have received its new producer id.
    return (
        transaction.producer_epoch == NO_PRODUCER_EPOCH
        or expected.producer_id == transaction.producer_id
        or (
            expected.producer_id == transaction.previous_producer_id
            and is_exhausted(expected.producer_epoch)
        )
    )


def _require_last_epoch(transaction: Transaction, expected: ExpectedProducer | None) -> None:
    """Raises if another producer has taken over: that reset `last_producer_epoch`."""
    assert expected is not None
    if expected.producer_epoch != transaction.last_producer_epoch:
        raise _fenced(transaction, expected)


def _fenced(transaction: Transaction, expected: ExpectedProducer) -> KafkaError:
    return KafkaError(
        ErrorCode.PRODUCER_FENCED,
        f"another producer has taken {transaction.transactional_id!r} over from producer "
        f"{expected.producer_id} with epoch {expected.producer_epoch}",
    )
