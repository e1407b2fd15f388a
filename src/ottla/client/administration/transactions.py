"""Transactions: those of coordinators, and those that leaders know (KIP-664)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ottla.client.administration.requests import (
    AdminRequests,
    Outcomes,
    by_topic,
    node_error,
    outcome,
    require,
)
from ottla.client.administration.results import Results
from ottla.client.cluster import CoordinatorKind
from ottla.client.errors import ClientError
from ottla.model import ErrorCode, TopicPartition
from ottla.model.held_records import HELD_TAG, HeldRecords, decode_held
from ottla.wire.messages.describe_producers import (
    DescribeProducersRequest,
    PartitionResponse,
    TopicRequest,
)
from ottla.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    TransactionState,
)
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

# No producer begins a transaction with the epoch that fencing takes.
_FENCING_TIMEOUT_MS: Final = 1
_MS: Final = 1_000


class ListedTransaction(NamedTuple):
    """A transactional id; `state` is Kafka's word, such as Ongoing or CompleteCommit."""

    id: str
    state: str
    producer_id: int
    coordinator: int


@dataclass(frozen=True, slots=True)
class TransactionDescription:
    """`start_ms` is None if no transaction is open."""

    id: str
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_ms: int | None
    partitions: tuple[TopicPartition, ...]
    coordinator: int


class ActiveProducer(NamedTuple):
    """A producer as the leader of a partition knows it. `start_offset` is where its open
    transaction begins there, None if it has none; the other fields that it need not have are None
    as well."""

    producer_id: int
    producer_epoch: int
    last_sequence: int | None
    last_timestamp: int | None
    coordinator_epoch: int | None
    start_offset: int | None


class TransactionOperations(AdminRequests):
    """The methods of `Admin` for transactions."""

    async def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Collection[int] = (),
        longer_than: float | None = None,
        pattern: str | None = None,
        timeout: float | None = None,
    ) -> list[ListedTransaction]:
        """Transactional ids: all, or those in these states, of these producers, with a transaction
        that has been open for more than these seconds, or that match the regular expression. Raises
        the error of a broker that does not list its own, and that of a state that there is not."""
        request = ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=sorted(producer_ids),
            duration_filter=-1 if longer_than is None else int(longer_than * _MS),
            transactional_id_pattern=pattern,
        )

        async def exchange(broker: int) -> list[ListedTransaction]:
            answer = await self._ask_node(broker, request)
            require(answer.error_code)
            if answer.unknown_state_filters:
                unknown = ", ".join(answer.unknown_state_filters)
                raise node_error(ErrorCode.INVALID_REQUEST, f"there is no state {unknown}")
            return [
                ListedTransaction(
                    each.transactional_id, each.transaction_state, each.producer_id, broker
                )
                for each in answer.transaction_states
            ]

        found = await self._each_broker("list transactions", None, exchange, timeout)
        return sorted(each for of_broker in found.all().values() for each in of_broker)

    async def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, TransactionDescription]:
        """What the coordinators know of transactional ids."""

        async def exchange(
            node_id: int, ids: Sequence[str]
        ) -> Outcomes[str, TransactionDescription]:
            request = DescribeTransactionsRequest(transactional_ids=list(ids))
            answer = await self._ask_node(node_id, request)
            return {
                each.transactional_id: outcome(_described(each, node_id), each.error_code)
                for each in answer.transaction_states
            }

        return await self._each_key(
            "describe transactions",
            CoordinatorKind.TRANSACTION,
            transactional_ids,
            exchange,
            timeout,
        )

    async def describe_producers(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Results[TopicPartition, tuple[ActiveProducer, ...]]:
        """The producers that the leaders of partitions know, with their open transactions."""

        async def exchange(
            node_id: int, names: Sequence[TopicPartition]
        ) -> Outcomes[TopicPartition, tuple[ActiveProducer, ...]]:
            request = DescribeProducersRequest(
                topics=[
                    TopicRequest(name=topic, partition_indexes=indexes)
                    for topic, indexes in by_topic(names).items()
                ]
            )
            answer = await self._ask_node(node_id, request)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    tuple(map(_producer, each.active_producers)),
                    each.error_code,
                    each.error_message,
                )
                for topic in answer.topics
                for each in topic.partitions
            }

        return await self._each_leader("describe producers", partitions, exchange, timeout)

    async def describe_delays(
        self, partitions: Iterable[TopicPartition], *, timeout: float | None = None
    ) -> Results[TopicPartition, HeldRecords | None]:
        """What partitions with delayed delivery hold; None for those without, and for leaders of
        Apache Kafka."""

        async def exchange(
            node_id: int, names: Sequence[TopicPartition]
        ) -> Outcomes[TopicPartition, HeldRecords | None]:
            request = DescribeProducersRequest(
                topics=[
                    TopicRequest(name=topic, partition_indexes=indexes)
                    for topic, indexes in by_topic(names).items()
                ]
            )
            request.unknown_tags = {HELD_TAG: b""}
            answer = await self._ask_node(node_id, request)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(
                    _held(each), each.error_code, each.error_message
                )
                for topic in answer.topics
                for each in topic.partitions
            }

        return await self._each_leader("describe delays", partitions, exchange, timeout)

    async def fence_producers(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, None]:
        """Takes transactional ids over: their open transactions are aborted, and their producers
        cannot write any more."""

        async def exchange(node_id: int, ids: Sequence[str]) -> Outcomes[str, None]:
            found: dict[str, ClientError | None] = {}
            for transactional_id in ids:
                request = InitProducerIdRequest(
                    transactional_id=transactional_id, transaction_timeout_ms=_FENCING_TIMEOUT_MS
                )
                answer = await self._ask_node(node_id, request)
                found[transactional_id] = outcome(None, answer.error_code)
            return found

        return await self._each_key(
            "fence producers", CoordinatorKind.TRANSACTION, transactional_ids, exchange, timeout
        )

    async def abort_transaction(
        self,
        partition: TopicPartition,
        producer: ActiveProducer,
        *,
        timeout: float | None = None,
    ) -> None:
        """Aborts the open transaction of a producer in one partition, without its coordinator: only
        for a hanging transaction, which no coordinator will end."""
        request = WriteTxnMarkersRequest(
            markers=[
                WritableTxnMarker(
                    producer_id=producer.producer_id,
                    producer_epoch=producer.producer_epoch,
                    transaction_result=False,
                    topics=[
                        WritableTxnMarkerTopic(
                            name=partition.topic, partition_indexes=[partition.partition]
                        )
                    ],
                    coordinator_epoch=max(producer.coordinator_epoch or 0, 0),
                )
            ]
        )

        async def exchange(
            node_id: int, _names: Sequence[TopicPartition]
        ) -> Outcomes[TopicPartition, None]:
            answer = await self._ask_node(node_id, request)
            return {
                TopicPartition(topic.name, each.partition_index): outcome(None, each.error_code)
                for marker in answer.markers
                for topic in marker.topics
                for each in topic.partitions
            }

        found = await self._each_leader("abort a transaction", [partition], exchange, timeout)
        found.all()


def _described(state: TransactionState, coordinator: int) -> TransactionDescription:
    start_ms = state.transaction_start_time_ms
    return TransactionDescription(
        state.transactional_id,
        state.transaction_state,
        state.producer_id,
        state.producer_epoch,
        state.transaction_timeout_ms,
        None if start_ms < 0 else start_ms,
        tuple(
            sorted(
                TopicPartition(topic.topic, index)
                for topic in state.topics
                for index in topic.partitions
            )
        ),
        coordinator,
    )


def _producer(state: Any) -> ActiveProducer:
    return ActiveProducer(
        state.producer_id,
        state.producer_epoch,
        _known(state.last_sequence),
        _known(state.last_timestamp),
        _known(state.coordinator_epoch),
        _known(state.current_txn_start_offset),
    )


def _known(number: int) -> int | None:
    return None if number < 0 else number


def _held(answer: PartitionResponse) -> HeldRecords | None:
    data = (answer.unknown_tags or {}).get(HELD_TAG)
    return None if data is None else decode_held(data)
