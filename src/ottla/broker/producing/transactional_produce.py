"""Produce requests of transactional producers: verified before they are appended (KIP-890).

    received ──one batch, and its transaction is known here──▶ verified ──▶ appended
        │                                                          ▲
        └──▶ waiting for the producer's turn ──▶ asking ───────────┤
                                                   ▲  │            │
                                                   │  └─answered───┘
                                                   └── CONCURRENT_TRANSACTIONS, with TransactionV2:
                                                       asks again after a moment

A batch that opens a transaction in its partition waits for the transaction's coordinator, and later
requests of the producer wait behind it, or its sequence numbers would arrive in the wrong order.
The turn is over when the request is appended or refused.

Errors of their own, per partition: INVALID_TXN_STATE, INVALID_PRODUCER_EPOCH,
INVALID_PRODUCER_ID_MAPPING, TRANSACTION_ABORTABLE, CONCURRENT_TRANSACTIONS, and NOT_ENOUGH_REPLICAS
where the coordinator could not answer, since every client retries that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.broker.producing.produced_partition import produced_partition
from ottla.broker.producing.turns import Turns
from ottla.broker.transactions.known_transactions import is_known
from ottla.broker.transactions.questions import (
    NOTHING_TO_VERIFY,
    Supported,
    TransactionalProducer,
    UnverifiedBatch,
    Verified,
    supported_by_produce,
)
from ottla.broker.transactions.transaction_verification import TransactionVerification
from ottla.model import Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.storage.producers.verification import Verification
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.produce import ProduceRequest
from ottla.wire.records.header import (
    ATTRIBUTES_AT,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    read_header,
)
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.coordinator.transactions.coordinator import TransactionCoordinator

_FLAGS_AT: Final = ATTRIBUTES_AT + 1

_NO_ERROR: Final = ErrorCode.NONE
_NO_ERRORS: Final[Mapping[TopicPartition, ErrorCode]] = {}
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
    """What the coordinator of the transaction answered."""

    verified: Verified
    supported: Supported
    # In all partitions.
    error: ErrorCode = _NO_ERROR

    def require(self, name: TopicPartition) -> Verification | None:
        """What to append with in a partition. Raises if nothing may be appended."""
        error = self.error or self.verified.errors.get(name, _NO_ERROR)
        if not error:
            return self.verified.verifications.get(name)
        if error in _UNREACHED or (
            error is ErrorCode.CONCURRENT_TRANSACTIONS and self.supported is not Supported.ADDING
        ):
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"the transaction's coordinator did not answer for {name}: {error.name}",
            )
        raise KafkaError(error, f"{name} is not in the transaction: {error.name}")


Answer: TypeAlias = Message | Pending | None
Append: TypeAlias = Callable[[RequestContext, ProduceRequest, VerifiedProduce], Answer]


class TransactionalProduces:
    """The transactional requests of a node. Owned by its loop."""

    def __init__(
        self,
        cluster: ClusterView,
        transactions: CoordinatorShards[TransactionCoordinator],
        verification: TransactionVerification,
        partitions: Partitions,
        clock: Clock,
    ) -> None:
        self.cluster = cluster
        self.verification = verification
        self.partitions = partitions
        self.clock = clock
        # By producer id.
        self.turns = Turns()
        self._transactions = transactions

    def verified_at_once(
        self, context: RequestContext, request: ProduceRequest
    ) -> VerifiedProduce | None:
        """For a request of one batch whose transaction is coordinated in this process: most of
        most producers' on a single node. None if the request may have to wait, for an answer or
        for its turn, or if it has to be refused."""
        topics = request.topic_data
        if len(topics) != 1 or len(topics[0].partition_data) != 1 or not request.transactional_id:
            return None
        (data,) = topics[0].partition_data
        if data.records is None or not claims_transaction(data.records):
            return None
        version = context.api_version
        try:
            header = read_header(data.records)
            partition = produced_partition(self.partitions, version, topics[0], data.index)
            return self._verified(
                partition, request.transactional_id, header, supported_by_produce(version)
            )
        except (KafkaError, ProtocolError):
            return None

    def _verified(
        self,
        partition: Partition,
        transactional_id: str,
        header: BatchHeader,
        supported: Supported,
    ) -> VerifiedProduce | None:
        producer_id, epoch = header.producer_id, header.producer_epoch
        log = partition.log
        if not partition.is_leader or log is None or self.turns.is_busy(producer_id):
            return None
        producers = log.producers.state
        if not producers.requires_verification:
            return None
        if producers.has_ongoing_transaction(producer_id=producer_id, producer_epoch=epoch):
            return VerifiedProduce(NOTHING_TO_VERIFY, supported)
        producer = TransactionalProducer(transactional_id, producer_id, epoch)
        if not is_known(self._transactions, producer, (partition.name,)):
            return None
        verification = producers.start_verification(
            producer_id=producer_id,
            producer_epoch=epoch,
            sequence=header.base_sequence,
            supports_epoch_bump=supported is Supported.ADDING,
            now_ms=self.clock.now_ms(),
        )
        assert verification is not None
        return VerifiedProduce(Verified(_NO_ERRORS, {partition.name: verification}), supported)

    def run(self, context: RequestContext, request: ProduceRequest, append: Append) -> Answer:
        """Verifies a request, then appends it."""
        return _TransactionalProduce(self, context, request, append).run()


class _TransactionalProduce:
    """One request. Holds its records until they are verified."""

    __slots__ = (
        "_append",
        "_batches",
        "_context",
        "_node",
        "_pending",
        "_producers",
        "_request",
        "_started",
        "_supported",
    )

    def __init__(
        self,
        node: TransactionalProduces,
        context: RequestContext,
        request: ProduceRequest,
        append: Append,
    ) -> None:
        self._node = node
        self._context = context
        self._request = request
        self._append = append
        self._supported = supported_by_produce(context.api_version)
        self._pending = Pending()
        self._producers: set[TransactionalProducer] = set()
        self._batches: list[UnverifiedBatch] = []
        self._started = node.clock.monotonic()

    def run(self) -> Answer:
        self._gather()
        if len(self._producers) == 1:
            (producer,) = self._producers
            self._node.turns.begin(producer.producer_id, lambda: self._verify(producer))
        else:
            mixed = ErrorCode.INVALID_PRODUCER_ID_MAPPING if self._producers else ErrorCode.NONE
            self._finish(VerifiedProduce(NOTHING_TO_VERIFY, self._supported, mixed))
        return None if self._request.acks == 0 else self._pending.answer

    def _gather(self) -> None:
        """Finds the batches of transactions. What cannot be read or is not here is refused when it
        is appended."""
        version, partitions = self._context.api_version, self._node.partitions
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
        self._node.verification.verify(
            producer,
            self._batches,
            self._supported,
            lambda verified: self._verified(producer, verified),
        )

    def _verified(self, producer: TransactionalProducer, verified: Verified) -> None:
        """With TransactionV2 the last transaction's markers may still be on their way when the next
        one begins, which is over in a moment."""
        config, clock = self._node.cluster.config, self._node.clock
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
            self._node.turns.end(producer.producer_id)

    def _finish(self, verified: VerifiedProduce) -> None:
        answer: Answer = None
        # With acks=0 no error is sent, and the connection may be far ahead by now.
        with suppress(ConnectionAbortedError):
            answer = self._append(self._context, self._request, verified)
        self._pending.follow(answer)
