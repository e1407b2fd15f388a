"""EndTxn, and the other ways to end a transaction: prepare, fence and complete.

With TransactionV2 (KIP-890) every commit or abort also raises the producer's epoch, so each
transaction has its own epoch. A delayed request has an old epoch and cannot affect a later
transaction. EndTxn without an ongoing transaction:

                       abort                commit
    state              retry    current     retry    current
    Empty              fenced   bump        fenced   invalid
    CompleteAbort      done     bump        invalid  invalid
    CompleteCommit     invalid  bump        done     invalid

"retry" (`again` in the code) is a request with the epoch before the current one: the first response
was lost. The older protocol has no "retry", and one epoch is used for many transactions.

After the EndTxn response, the producer may start its next transaction while the markers of the last
one are still being written, with an epoch or id that becomes current only on completion. So with
TransactionV2 every request gets CONCURRENT_TRANSACTIONS until then, with any id or epoch.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import (
    CLIENT_EPOCH_MAX,
    EPOCH_MAX,
    NO_PARTITIONS,
    Transaction,
)
from ottla.coordinator.transactions.versions import TV_0, bumps_epoch
from ottla.model import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, ErrorCode, KafkaError

_COMPLETE = {
    TransactionState.PREPARE_COMMIT: TransactionState.COMPLETE_COMMIT,
    TransactionState.PREPARE_ABORT: TransactionState.COMPLETE_ABORT,
}


def decide(
    transaction: Transaction,
    new_producer_id: Callable[[], int],
    *,
    commits: bool,
    client_version: int,
    now_ms: int,
) -> Transaction:
    """The transaction in its prepared state. This is final: it must be completed."""
    state = TransactionState.PREPARE_COMMIT if commits else TransactionState.PREPARE_ABORT
    is_ongoing = transaction.state is TransactionState.ONGOING
    epoch, last_epoch = transaction.producer_epoch, transaction.last_producer_epoch
    next_producer_id: int = NO_PRODUCER_ID
    if bumps_epoch(client_version):
        if transaction.is_epoch_exhausted:
            next_producer_id = new_producer_id()
        # The markers may use the maximum epoch; a client never gets it.
        epoch, last_epoch = min(epoch + 1, EPOCH_MAX), epoch
    return transaction.become(
        state,
        producer_epoch=epoch,
        last_producer_epoch=last_epoch,
        next_producer_id=next_producer_id,
        start_ms=transaction.start_ms if is_ongoing else now_ms,
        updated_ms=now_ms,
        client_version=client_version,
    )


def fence(
    transaction: Transaction,
    new_producer_id: Callable[[], int],
    *,
    server_version: int,
    now_ms: int,
) -> Transaction:
    """The transaction, aborted by the coordinator with a higher epoch that fences its producer."""
    assert transaction.state is TransactionState.ONGOING
    if bumps_epoch(server_version):
        return decide(
            transaction,
            new_producer_id,
            commits=False,
            client_version=server_version,
            now_ms=now_ms,
        )
    return transaction.become(
        TransactionState.PREPARE_ABORT,
        producer_epoch=min(transaction.producer_epoch + 1, EPOCH_MAX),
        last_producer_epoch=NO_PRODUCER_EPOCH,
        updated_ms=now_ms,
        client_version=TV_0,
    )


def complete(transaction: Transaction, *, now_ms: int) -> Transaction:
    """The transaction after its markers have been written."""
    has_new_id = (
        bumps_epoch(transaction.client_version) and transaction.next_producer_id != NO_PRODUCER_ID
    )
    return transaction.become(
        _COMPLETE[transaction.state],
        producer_id=transaction.next_producer_id if has_new_id else transaction.producer_id,
        producer_epoch=0 if has_new_id else transaction.producer_epoch,
        next_producer_id=NO_PRODUCER_ID,
        partitions=NO_PARTITIONS,
        updated_ms=now_ms,
    )


def is_already_ended(
    transaction: Transaction,
    *,
    producer_id: int,
    producer_epoch: int,
    commits: bool,
    client_version: int,
) -> bool:
    """Whether an EndTxn repeats an end that is already done. False if it must be done now; raises
    `KafkaError` otherwise."""
    # A shortcut for the usual case; the code below would return the same.
    if (
        transaction.state is TransactionState.ONGOING
        and transaction.producer_id == producer_id
        and transaction.producer_epoch == producer_epoch
    ):
        return False
    is_v2 = bumps_epoch(client_version)
    if is_v2:
        transaction.require_completed()
    # Only TransactionV2 raises the epoch at the end. Otherwise another producer raised it when it
    # initialized the id.
    again = (
        is_v2
        and bumps_epoch(transaction.client_version)
        and _is_again(transaction, producer_id, producer_epoch)
    )
    _require_producer(transaction, producer_id, producer_epoch, again=again, is_v2=is_v2)
    state = transaction.state
    if state is TransactionState.ONGOING:
        return False
    if state.is_prepared:
        if transaction.is_committing != commits:
            raise _invalid(transaction, commits=commits)
        transaction.require_completed()
    if again or not is_v2:
        completed = TransactionState.COMPLETE_COMMIT if commits else TransactionState.COMPLETE_ABORT
        if state is not completed:
            raise _invalid(transaction, commits=commits)
        return True
    if commits:
        raise _invalid(transaction, commits=commits)
    return False


def _is_again(transaction: Transaction, producer_id: int, producer_epoch: int) -> bool:
    if transaction.producer_epoch == producer_epoch + 1:
        return True
    # The epochs of the previous producer id were exhausted, so it was replaced.
    return (
        transaction.previous_producer_id == producer_id
        and producer_epoch == CLIENT_EPOCH_MAX
        and transaction.producer_epoch == 0
    )


def _require_producer(
    transaction: Transaction, producer_id: int, producer_epoch: int, *, again: bool, is_v2: bool
) -> None:
    has_new_id = again and transaction.producer_epoch == 0 and producer_epoch == CLIENT_EPOCH_MAX
    if transaction.producer_id != producer_id and not has_new_id:
        raise KafkaError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            f"{transaction.transactional_id!r} belongs to producer {transaction.producer_id}, not "
            f"to {producer_id}",
        )
    is_current = producer_epoch == transaction.producer_epoch
    if not is_v2 or transaction.state in (TransactionState.ONGOING, TransactionState.EMPTY):
        is_valid = is_current
    else:
        is_valid = is_current or again
    if not is_valid:
        raise KafkaError(
            ErrorCode.PRODUCER_FENCED,
            f"the epoch of {transaction.transactional_id!r} is {transaction.producer_epoch} and "
            f"not {producer_epoch}",
        )


def _invalid(transaction: Transaction, *, commits: bool) -> KafkaError:
    request = "commit" if commits else "abort"
    return KafkaError(
        ErrorCode.INVALID_TXN_STATE,
        f"{transaction.transactional_id!r} is in state {transaction.state.title} and has no "
        f"transaction to {request}",
    )
