"""Produce requests of transactional producers, which are verified before they are appended.

    waiting for the producer's turn ──▶ verified ──▶ appended, and the turn is over

A batch that opens a transaction in its partition waits for the transaction's coordinator, and what
the producer sent after it waits behind it, or its sequence numbers would come in the wrong order.
Errors of their own, per partition: INVALID_TXN_STATE, INVALID_PRODUCER_EPOCH,
INVALID_PRODUCER_ID_MAPPING, TRANSACTION_ABORTABLE, CONCURRENT_TRANSACTIONS, and NOT_ENOUGH_REPLICAS
where the coordinator cannot say, since every client tries again after that.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.broker.producing.produced_partition import produced_partition
from ottla.broker.transactions.transaction_verification import (
    NOTHING_TO_VERIFY,
    Supported,
    TransactionalProducer,
    UnverifiedBatch,
    Verified,
    supported_by_produce,
)
from ottla.model import Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.storage.producers.verification import Verification
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.produce import ProduceRequest
from ottla.wire.records.header import ATTRIBUTES_AT, TRANSACTIONAL_FLAG, read_header
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_FLAGS_AT: Final = ATTRIBUTES_AT + 1

_NO_ERROR: Final = ErrorCode.NONE
_UNREACHED: Final = (
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)


def claims_transaction(records: Buffer) -> bool:
    """Whether the first batch says that it is a part of a transaction."""
    return len(records) > _FLAGS_AT and records[_FLAGS_AT] & TRANSACTIONAL_FLAG != 0


class VerifiedProduce(NamedTuple):
    """What the coordinator of the transaction said."""

    verified: Verified
    supported: Supported
    # In all partitions.
    error: ErrorCode = _NO_ERROR

    def require(self, name: TopicPartition) -> Verification | None:
        """What to append with in a partition. Raises if nothing may be."""
        error = self.error or self.verified.errors.get(name, _NO_ERROR)
        if not error:
            return self.verified.verifications.get(name)
        if error in _UNREACHED or (
            error is ErrorCode.CONCURRENT_TRANSACTIONS and self.supported is not Supported.ADDING
        ):
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"the transaction's coordinator could not be asked about {name}: {error.name}",
            )
        raise KafkaError(error, f"{name} is not in the transaction: {error.name}")


Answer: TypeAlias = Message | Pending | None
Append: TypeAlias = "Callable[[Broker, RequestContext, ProduceRequest, VerifiedProduce], Answer]"


class TransactionalProduce:
    """One request. Holds on to its records until they are verified."""

    __slots__ = (
        "_append",
        "_batches",
        "_broker",
        "_context",
        "_pending",
        "_producers",
        "_request",
        "_started",
        "_supported",
    )

    def __init__(
        self, broker: Broker, context: RequestContext, request: ProduceRequest, append: Append
    ) -> None:
        self._broker = broker
        self._context = context
        self._request = request
        self._append = append
        self._supported = supported_by_produce(context.api_version)
        self._pending = Pending()
        self._producers: set[TransactionalProducer] = set()
        self._batches: list[UnverifiedBatch] = []
        self._started = broker.clock.monotonic()

    def run(self) -> Answer:
        self._gather()
        if len(self._producers) == 1:
            (producer,) = self._producers
            turns = self._broker.transactional_produces
            turns.begin(producer.producer_id, lambda: self._verify(producer))
        else:
            mixed = ErrorCode.INVALID_PRODUCER_ID_MAPPING if self._producers else ErrorCode.NONE
            self._finish(VerifiedProduce(NOTHING_TO_VERIFY, self._supported, mixed))
        return None if self._request.acks == 0 else self._pending.answer

    def _gather(self) -> None:
        """Finds the batches of transactions. What cannot be read or is not here is refused when it
        is appended."""
        version, partitions = self._context.api_version, self._broker.partitions
        for topic in self._request.topic_data:
            for data in topic.partition_data:
                if data.records is None or not claims_transaction(data.records):
                    continue
                try:
                    header = read_header(data.records)
                    partition = produced_partition(partitions, version, topic, data.index)
                except (KafkaError, ProtocolError):
                    continue
                self._producers.add(
                    TransactionalProducer(
                        self._request.transactional_id, header.producer_id, header.producer_epoch
                    )
                )
                self._batches.append(UnverifiedBatch(partition, header.base_sequence))

    def _verify(self, producer: TransactionalProducer) -> None:
        self._broker.verification.verify(
            producer,
            self._batches,
            self._supported,
            lambda verified: self._verified(producer, verified),
        )

    def _verified(self, producer: TransactionalProducer, verified: Verified) -> None:
        """With TransactionV2 the last transaction's markers may still be on their way when the next
        one begins, which is over in a moment."""
        config, clock = self._broker.config, self._broker.clock
        waited_ms = (clock.monotonic() - self._started) * 1_000
        if (
            self._supported is Supported.ADDING
            and ErrorCode.CONCURRENT_TRANSACTIONS in verified.errors.values()
            and waited_ms < config.add_partitions_to_txn_retry_backoff_max_ms
        ):
            seconds = config.add_partitions_to_txn_retry_backoff_ms / 1_000
            clock.call_later(seconds, lambda: self._verify(producer))
            return
        try:
            self._finish(VerifiedProduce(verified, self._supported))
        finally:
            self._broker.transactional_produces.end(producer.producer_id)

    def _finish(self, verified: VerifiedProduce) -> None:
        answer: Answer = None
        # Without acks nobody waits for an error, and its connection may be far ahead by now.
        with suppress(ConnectionAbortedError):
            answer = self._append(self._broker, self._context, self._request, verified)
        self._pending.follow(answer)
