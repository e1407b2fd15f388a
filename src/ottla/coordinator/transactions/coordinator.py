"""The transaction coordinator of one partition of `__transaction_state`.

A request produces the next value of its transaction, which is written to the log; the response is
sent when that record is committed. A new coordinator continues from the end of the log: it times
out ongoing transactions, and writes the markers of prepared ones.
"""

from __future__ import annotations

from typing import Final

from ottla.coordinator.runtime.outcome import NOTHING, Outcome
from ottla.coordinator.transactions.adding import (
    add_partitions,
    require_may_add,
    verify_partitions,
)
from ottla.coordinator.transactions.context import TransactionContext
from ottla.coordinator.transactions.decisions import TransactionDecisions
from ottla.coordinator.transactions.describing import TransactionFilter, described, listed
from ottla.coordinator.transactions.ending import decide, is_already_ended
from ottla.coordinator.transactions.expiry import expired_ids
from ottla.coordinator.transactions.initializing import (
    ExpectedProducer,
    initialize,
    require_may_initialize,
)
from ottla.coordinator.transactions.producer import ClaimedProducer
from ottla.coordinator.transactions.replaying import TransactionReplay
from ottla.coordinator.transactions.states import TransactionState
from ottla.coordinator.transactions.transaction import NO_TIMEOUT_MS, Transaction
from ottla.coordinator.transactions.transaction_records import tombstone
from ottla.model import NO_PRODUCER_EPOCH, ErrorCode, KafkaError, TopicPartition
from ottla.wire.messages.describe_transactions import TransactionState as DescribedTransaction
from ottla.wire.messages.end_txn import EndTxnResponse
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.wire.messages.list_transactions import TransactionState as ListedTransaction
from ottla.wire.schema import Struct

# Tombstones are written in limited numbers, because a batch has a maximum size.
_TOMBSTONES_MAX: Final = 1_000


class TransactionCoordinator(TransactionReplay):
    """The state machine. Owned by its shard."""

    def __init__(self, context: TransactionContext) -> None:
        super().__init__(context)
        self._decisions = TransactionDecisions(context, self)

    # ---- life cycle

    def loaded(self) -> None:
        self._is_loaded = True
        for transaction in self.transactions:
            if transaction.state is TransactionState.ONGOING:
                self._open(transaction)
            elif transaction.state.is_prepared:
                self._decisions.resume(transaction)

    def unloaded(self) -> None:
        self.completions.close()
        self._context.markers.close()
        for transactional_id in list(self.open_since):
            self._close(transactional_id)

    # ---- producers

    def init_producer_id(
        self, request: InitProducerIdRequest, expected: ExpectedProducer | None
    ) -> Outcome:
        transactional_id = request.transactional_id
        assert transactional_id
        if request.keep_prepared_txn:
            # As in Kafka 4.3, which has the field but does not support it yet.
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                "keeping a prepared transaction (KIP-939) is not supported yet",
            )
        timeout_ms = self._resolved_timeout_ms(request)
        transaction = self.transactions.get(transactional_id)
        if transaction is None:
            transaction = Transaction(
                transactional_id, self._context.new_producer_id(), timeout_ms=timeout_ms
            )
        elif transaction.state is TransactionState.ONGOING:
            require_may_initialize(transaction, expected)
            return self._fence_for_another(transaction)
        after = initialize(
            transaction,
            expected,
            self._context.new_producer_id,
            timeout_ms=timeout_ms,
            now_ms=self._context.clock.now_ms(),
        )
        response = InitProducerIdResponse(
            producer_id=after.producer_id, producer_epoch=after.producer_epoch
        )
        return Outcome([self.stage(after)], response)

    def _resolved_timeout_ms(self, request: InitProducerIdRequest) -> int:
        settings = self._context.settings
        if request.enable2_pc:
            if not settings.two_phase_commit_enable:
                raise KafkaError(
                    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                    "two-phase commit (KIP-939) needs transaction.two.phase.commit.enable=true",
                )
            return NO_TIMEOUT_MS
        max_ms = settings.max_timeout_ms
        if not 0 < request.transaction_timeout_ms <= max_ms:
            raise KafkaError(
                ErrorCode.INVALID_TRANSACTION_TIMEOUT,
                f"a transaction's timeout has to be between 1 ms and {max_ms} ms, which is "
                "transaction.max.timeout.ms",
            )
        return request.transaction_timeout_ms

    def _fence_for_another(self, transaction: Transaction) -> Outcome:
        """Aborts the ongoing transaction. The new producer gets CONCURRENT_TRANSACTIONS and
        retries, usually after the abort has completed."""
        response = InitProducerIdResponse(
            error_code=ErrorCode.CONCURRENT_TRANSACTIONS, producer_epoch=NO_PRODUCER_EPOCH
        )
        return self._decisions.fence(transaction, response)

    # ---- partitions

    def add_partitions(
        self,
        producer: ClaimedProducer,
        partitions: frozenset[TopicPartition],
        response: Struct,
        *,
        client_version: int,
    ) -> Outcome:
        """Adds the partitions; the response is sent when they are added."""
        self.transactions.require(producer.transactional_id).require_completed()
        transaction = self._require_current(producer)
        after = add_partitions(
            transaction,
            partitions,
            client_version=client_version,
            now_ms=self._context.clock.now_ms(),
        )
        if after is transaction:
            return Outcome(response=response)
        return Outcome([self.stage(after)], response)

    def verify_partitions(
        self, producer: ClaimedProducer, partitions: frozenset[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        return verify_partitions(self._require_current(producer), partitions)

    def _require_current(self, producer: ClaimedProducer) -> Transaction:
        transaction = self.transactions.require(producer.transactional_id)
        require_may_add(
            transaction,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
        )
        return transaction

    # ---- ending transactions

    def end(self, producer: ClaimedProducer, *, commits: bool, client_version: int) -> Outcome:
        transaction = self.transactions.require(producer.transactional_id)
        if is_already_ended(
            transaction,
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            commits=commits,
            client_version=client_version,
        ):
            return Outcome(response=_ended(transaction))
        after = decide(
            transaction,
            self._context.new_producer_id,
            commits=commits,
            client_version=client_version,
            now_ms=self._context.clock.now_ms(),
        )
        return self._decisions.decided(after, _ended(after))

    def complete(self, transactional_id: str, *, producer_id: int, producer_epoch: int) -> Outcome:
        """All markers of this producer and epoch are written."""
        return self._decisions.complete(
            transactional_id, producer_id=producer_id, producer_epoch=producer_epoch
        )

    # ---- timeouts and expiry

    def opened(self, transaction: Transaction) -> None:
        self._decisions.opened(transaction)

    def expire(self) -> Outcome:
        """Removes expired transactional ids, a limited number at a time."""
        ids = expired_ids(
            self.transactions,
            expiration_ms=self._context.settings.id_expiration_ms,
            now_ms=self._context.clock.now_ms(),
            count_max=_TOMBSTONES_MAX,
        )
        return Outcome(
            [tombstone(each) for each in ids],
            on_committed=self._expire_more if len(ids) == _TOMBSTONES_MAX else None,
        )

    def _expire_more(self, error: ErrorCode) -> Outcome:
        return NOTHING if error else self.expire()

    # ---- admin requests

    def list_transactions(self, transaction_filter: TransactionFilter) -> list[ListedTransaction]:
        now_ms = self._context.clock.now_ms()
        return [
            listed(each)
            for each in self.transactions
            if transaction_filter.admits(each, now_ms=now_ms)
        ]

    def describe(self, transactional_id: str) -> DescribedTransaction:
        transaction = self.transactions.get(transactional_id)
        if transaction is None:
            raise KafkaError(
                ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
                f"there is no transactional id {transactional_id!r}",
            )
        return described(transaction)


def _ended(transaction: Transaction) -> EndTxnResponse:
    """With TransactionV2 the producer continues with the id and epoch of this response."""
    if transaction.next_producer_id >= 0:
        return EndTxnResponse(producer_id=transaction.next_producer_id, producer_epoch=0)
    return EndTxnResponse(
        producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
    )
