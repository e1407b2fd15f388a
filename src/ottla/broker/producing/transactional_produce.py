"""Produce requests of transactional producers: verified before they are appended (KIP-890).

    received ──one batch, coordinator in this process──▶ verified ──▶ appended
        │                                                    ▲
        └──▶ waiting for the producer's turn ──▶ verifying ──┘
                                                  ▲     │
                                                  └─────┘ CONCURRENT_TRANSACTIONS with
                                                          TransactionV2: retry after a backoff

The first batch of a transaction in a partition waits for the transaction coordinator. Later
requests of the producer wait behind it, so that its sequence numbers stay in order. The turn ends
when the request is appended or rejected.

Additional errors per partition: INVALID_TXN_STATE, INVALID_PRODUCER_EPOCH,
INVALID_PRODUCER_ID_MAPPING, TRANSACTION_ABORTABLE, CONCURRENT_TRANSACTIONS, and NOT_ENOUGH_REPLICAS
if the coordinator did not respond, because every client retries that.
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
from ottla.broker.transactions.transaction_verification import TransactionVerification
from ottla.broker.transactions.verification_requests import (
    NOTHING_TO_VERIFY,
    Supported,
    TransactionalProducer,
    UnverifiedBatch,
    Verified,
    supported_by_produce,
)
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
    """Whether the first batch has the transactional flag."""
    return len(records) > _FLAGS_AT and records[_FLAGS_AT] & TRANSACTIONAL_FLAG != 0


class VerifiedProduce(NamedTuple):
    """The result of verifying a request's transaction."""

    verified: Verified
    supported: Supported
    # The error of all partitions, if any.
    error: ErrorCode = _NO_ERROR

    def require(self, name: TopicPartition) -> Verification | None:
        """The `Verification` for an append to the partition. Raises KafkaError if verification
        failed."""
        error = self.error or self.verified.errors.get(name, _NO_ERROR)
        if not error:
            return self.verified.verifications.get(name)
        if error in _UNREACHED or (
            error is ErrorCode.CONCURRENT_TRANSACTIONS and self.supported is not Supported.ADDING
        ):
            raise KafkaError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                f"the transaction coordinator did not verify {name}: {error.name}",
            )
        raise KafkaError(error, f"{name} is not in the transaction: {error.name}")


Answer: TypeAlias = Message | Pending | None
Append: TypeAlias = Callable[[RequestContext, ProduceRequest, VerifiedProduce], Answer]


class TransactionalProduces:
    """Handles the transactional Produce requests of a node. Owned by its loop."""

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
        # Keyed by producer id.
        self.turns = Turns()
        self._transactions = transactions

    def verified_at_once(
        self, context: RequestContext, request: ProduceRequest
    ) -> VerifiedProduce | None:
        """The fast path for a request of one batch whose coordinator is in this process, the usual
        case on a single node. None if the request may have to wait or to be rejected."""
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
        """Collects the transactional batches. Skips unreadable batches and unknown partitions; the
        append rejects them."""
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
        """Appends the request, or retries CONCURRENT_TRANSACTIONS: with TransactionV2 the markers
        of the previous transaction may not be written yet when the next one begins."""
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
        # With acks=0 no error is sent, and the connection may have handled later requests.
        with suppress(ConnectionAbortedError):
            answer = self._append(self._context, self._request, verified)
        self._pending.follow(answer)
