"""Requests to transaction coordinators: InitProducerId, AddPartitionsToTxn, EndTxn, and
DescribeTransactions.

The sink uses the protocol before KIP-890's TransactionV2, in which a client adds partitions itself.
TransactionV2 gives every transaction its own epoch; here an InitProducerId before each transaction
does the same, so a late request of an earlier transaction is fenced by its epoch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

from ottla.channels import ChannelError, NodeLink
from ottla.model import ErrorCode, KafkaError, ProducerEpoch, ProducerId, TopicPartition
from ottla.pipeline.reading.cluster import TRANSACTION, SourceCluster, require
from ottla.pipeline.reading.errors import ClusterError, OptionError
from ottla.pipeline.writing.errors import FencedError
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from ottla.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.wire.schema import Message

T = TypeVar("T")

_INIT_PRODUCER_ID_VERSION: Final = 4
_ADD_PARTITIONS_VERSION: Final = 3
_END_TXN_VERSION: Final = 3
_FENCED: Final = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    }
)
_ONGOING: Final = "Ongoing"


class SinkProducer(NamedTuple):
    """A producer id and epoch. Without a transactional id it has no transactions."""

    transactional_id: str | None
    producer_id: ProducerId
    producer_epoch: ProducerEpoch


class SinkTransactions:
    """Lives as long as the cluster's links. Every call retries while a coordinator moves or is not
    available, and can be repeated safely."""

    def __init__(self, cluster: SourceCluster) -> None:
        self._cluster = cluster
        self._coordinators: dict[str, NodeLink] = {}

    async def begin(self, transactional_id: str | None, *, timeout_ms: int) -> SinkProducer:
        """Initializes a producer with a new epoch. An earlier producer of the transactional id is
        fenced, and its open transaction is aborted. The new transaction begins at the coordinator
        when partitions are added."""
        request = InitProducerIdRequest(
            transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
        )

        def producer(answer: InitProducerIdResponse) -> SinkProducer:
            require(answer.error_code, f"a producer id for {transactional_id}")
            return SinkProducer(
                transactional_id,
                ProducerId(answer.producer_id),
                ProducerEpoch(answer.producer_epoch),
            )

        try:
            return await self._send(
                transactional_id, request, producer, version=_INIT_PRODUCER_ID_VERSION
            )
        except ClusterError as error:
            if error.code is ErrorCode.INVALID_TRANSACTION_TIMEOUT:
                raise OptionError(
                    f"the brokers do not allow a transaction timeout of {timeout_ms} ms: lower "
                    "kafka.transaction.timeout.ms, or raise their transaction.max.timeout.ms"
                ) from error
            raise

    async def add(self, producer: SinkProducer, partitions: Iterable[TopicPartition]) -> None:
        """Raises FencedError if a newer producer has the transactional id."""
        topics: dict[str, list[int]] = defaultdict(list)
        for partition in partitions:
            topics[partition.topic].append(partition.partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=producer.transactional_id or "",
            v3_and_below_producer_id=producer.producer_id,
            v3_and_below_producer_epoch=producer.producer_epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=found)
                for name, found in topics.items()
            ],
        )

        def require_added(answer: AddPartitionsToTxnResponse) -> None:
            for topic in answer.results_by_topic_v3_and_below:
                for each in topic.results_by_partition:
                    name = f"{topic.name}-{each.partition_index}"
                    require(each.partition_error_code, f"adding {name} to a transaction")

        await self._send_as(producer, request, require_added, version=_ADD_PARTITIONS_VERSION)

    async def end(self, producer: SinkProducer, *, commits: bool) -> None:
        """Commits or aborts; repeating it is no error. Raises FencedError if the transaction does
        not belong to this producer any more: it may have been committed or aborted."""
        request = EndTxnRequest(
            transactional_id=producer.transactional_id or "",
            producer_id=producer.producer_id,
            producer_epoch=producer.producer_epoch,
            committed=commits,
        )

        def require_ended(answer: EndTxnResponse) -> None:
            require(answer.error_code, f"ending the transaction of {producer.transactional_id}")

        await self._send_as(producer, request, require_ended, version=_END_TXN_VERSION)

    async def is_open(self, producer: SinkProducer) -> bool:
        """Whether the producer has a transaction that is neither committed nor aborted."""
        expected = (_ONGOING, producer.producer_id, producer.producer_epoch)
        request = DescribeTransactionsRequest(transactional_ids=[producer.transactional_id or ""])

        def is_ongoing(answer: DescribeTransactionsResponse) -> bool:
            (state,) = answer.transaction_states
            if state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                return False
            require(state.error_code, f"describing {producer.transactional_id}")
            return (state.transaction_state, state.producer_id, state.producer_epoch) == expected

        return await self._send(producer.transactional_id, request, is_ongoing)

    async def _send_as(
        self, producer: SinkProducer, request: Message, read: Callable[[Any], T], *, version: int
    ) -> T:
        try:
            return await self._send(producer.transactional_id, request, read, version=version)
        except ClusterError as error:
            if error.code in _FENCED:
                raise FencedError(
                    f"{producer.transactional_id} has a newer producer, or its transaction took "
                    f"longer than kafka.transaction.timeout.ms: {error}"
                ) from error
            raise

    async def _send(
        self,
        transactional_id: str | None,
        request: Message,
        read: Callable[[Any], T],
        *,
        version: int | None = None,
    ) -> T:
        """Returns `read(response)`. `read` raises KafkaError for an error response."""

        async def attempt() -> T:
            link = await self._coordinator(transactional_id)
            try:
                return read(await link.send_request(request, version_max=version))
            except (ChannelError, KafkaError):
                # The coordinator may have moved.
                self._coordinators.pop(transactional_id or "", None)
                raise

        return await self._cluster.persist(attempt)

    async def _coordinator(self, transactional_id: str | None) -> NodeLink:
        """The coordinator of the id; any node for a producer without transactions."""
        if transactional_id is None:
            return await self._cluster.any()
        link = self._coordinators.get(transactional_id)
        if link is None or not link.is_open:
            link = await self._cluster.coordinator(transactional_id, key_type=TRANSACTION)
            self._coordinators[transactional_id] = link
        return link
