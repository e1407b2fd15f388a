"""A transactional producer with either protocol: TransactionV1, or TransactionV2 (KIP-890).

Requests without response are retried where that is safe. In TransactionV1 an epoch lasts for many
transactions, so a late request may affect a later transaction. An EndTxn or TxnOffsetCommit without
response is therefore not retried: the producer has to be initialized again, which gives it a new
epoch. TransactionV2 does not need this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, Offset, ProducerEpoch, ProducerId, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient, LogPosition
from ottla.simulation.clients.group_coordinator import TRANSACTION_KEY, CoordinatorClient
from ottla.simulation.clients.straggler import Straggler
from ottla.simulation.history.history import Acknowledged, Event, ProducerFailed, Sent
from ottla.simulation.history.transaction_events import ProducerInitialized
from ottla.simulation.world.host import Host
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.messages.write_txn_markers import WritableTxnMarker
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record
from ottla.wire.schema import Message

_INIT_VERSION: Final = 5
_ADD_PARTITIONS_VERSION: Final = 3
_ADD_OFFSETS_VERSION: Final = 3
_PRODUCE_VERSIONS: Final = (11, 12)
_OFFSETS_VERSIONS: Final = (4, 5)
_END_VERSIONS: Final = (4, 5)
_ACKS_ALL: Final = -1
_TIMEOUT_MS: Final = 3_000


class RefusedError(Exception):
    """The transaction cannot continue; the producer needs a new epoch."""

    def __init__(self, error: ErrorCode) -> None:
        super().__init__(error.name)
        self.error = error


class SimulatedTransactionalProducer:
    """Belongs to the process of its host. One transaction and one request at a time."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        *,
        transactional_id: str,
        group: str,
        timeout_ms: int,
        is_v2: bool,
        name: str,
    ) -> None:
        self.name = name
        self.transactional_id = transactional_id
        self.producer_id = -1
        self.producer_epoch = -1
        self.is_v2 = is_v2
        self._timeout_ms = timeout_ms
        self._clock = host.clock
        self._record = record
        self._client = ClusterClient(host, bootstrap, name=name)
        self._coordinator = CoordinatorClient(
            host, bootstrap, transactional_id, name=f"{name} transactions", key_type=TRANSACTION_KEY
        )
        self._straggler = Straggler(
            host, bootstrap, transactional_id=transactional_id, group=group, name=name
        )
        self._sequences: dict[TopicPartition, int] = {}
        self._offsets_request: TxnOffsetCommitRequest | None = None
        # The partitions and groups that were added to the transaction at its coordinator.
        self._added: set[object] = set()

    async def initialize(self) -> None:
        """Initializes the transactional id, which fences its current producer."""
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=self._timeout_ms
        )
        response = await self._send_until_answered(request, _INIT_VERSION)
        self._go_on_with(response)
        self._record(
            ProducerInitialized(
                self.name, self.transactional_id, self.producer_id, self.producer_epoch
            )
        )

    async def write(self, partition: TopicPartition, values: Sequence[bytes]) -> None:
        """Writes records as one batch, and returns when they are acknowledged."""
        await self._add_partition(partition)
        sequence = self._sequences.get(partition, 0)
        request = self._produce_request(partition, values)
        while (offset := await self._produce(partition, request, sequence)) is None:
            await self._client.forget_leader(partition)
        for at, value in enumerate(values):
            self._record(
                Acknowledged(self.name, partition, value, offset + at if offset >= 0 else -1)
            )

    async def write_late(self, partition: TopicPartition, values: Sequence[bytes]) -> None:
        """Sends a batch without awaiting the response. The transaction has to be aborted then."""
        await self._add_partition(partition)
        request = self._produce_request(partition, values)
        self._straggler.write(partition, request, _PRODUCE_VERSIONS[self.is_v2])

    async def commit_offsets(
        self, group: CoordinatorClient, offsets: Mapping[TopicPartition, LogPosition]
    ) -> None:
        """Adds a group's offsets to the transaction."""
        if not self.is_v2 and group.group not in self._added:
            request = AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self.producer_id,
                producer_epoch=self.producer_epoch,
                group_id=group.group,
            )
            await self._send_until_answered(request, _ADD_OFFSETS_VERSION)
            self._added.add(group.group)
        while not await self._commit_offsets(group, offsets):
            await group.back_off()

    async def end(self, *, commits: bool, comes_twice: bool = False) -> None:
        """Ends the transaction; after it returns, a new one may begin."""
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            committed=commits,
        )
        response = await self._send_until_answered(
            request, _END_VERSIONS[self.is_v2], retries_unanswered=self.is_v2
        )
        self._added.clear()
        if self.is_v2:
            written = sorted(self._sequences)
            self._go_on_with(response)
            if comes_twice:
                self._repeat(request, written)

    def _repeat(self, end: EndTxnRequest, written: Sequence[TopicPartition]) -> None:
        """Repeats all requests that ended the transaction, possibly after the next one has
        begun.
        """
        self._straggler.end(end, _END_VERSIONS[True])
        if self._offsets_request is not None:
            self._straggler.commit_offsets(self._offsets_request, _OFFSETS_VERSIONS[True])
        marker = WritableTxnMarker(
            producer_id=end.producer_id,
            producer_epoch=end.producer_epoch + 1,
            transaction_result=end.committed,
            transaction_version=2,
        )
        self._straggler.mark(written, marker)

    # ----

    def _go_on_with(self, response: Any) -> None:
        """Adopts the producer id and epoch; sequence numbers start again with each epoch."""
        self.producer_id, self.producer_epoch = response.producer_id, response.producer_epoch
        self._sequences.clear()
        self._added.clear()

    async def _add_partition(self, partition: TopicPartition) -> None:
        if self.is_v2 or partition in self._added:
            return
        topic = AddPartitionsToTxnTopic(name=partition.topic, partitions=[partition.partition])
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.producer_epoch,
            v3_and_below_topics=[topic],
        )
        await self._send_until_answered(request, _ADD_PARTITIONS_VERSION)
        self._added.add(partition)

    def _produce_request(
        self, partition: TopicPartition, values: Sequence[bytes]
    ) -> ProduceRequest:
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = sequence + len(values)
        now_ms = self._clock.now_ms()
        batch = build_batch(
            [Record(Offset(at), now_ms, None, value) for at, value in enumerate(values)],
            producer_id=ProducerId(self.producer_id),
            producer_epoch=ProducerEpoch(self.producer_epoch),
            base_sequence=sequence,
            is_transactional=True,
        )
        for value in values:
            self._record(Sent(self.name, partition, value))
        data = PartitionProduceData(index=partition.partition, records=bytes(batch))
        return ProduceRequest(
            transactional_id=self.transactional_id,
            acks=_ACKS_ALL,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
        )

    async def _produce(
        self, partition: TopicPartition, request: ProduceRequest, sequence: int
    ) -> int | None:
        """The first offset, -1 if unknown (duplicate), or None if the batch has to be resent."""
        leader = await self._client.wait_leader(partition)
        try:
            response: Any = await self._client.send_to_node(
                leader.node_id, request, _PRODUCE_VERSIONS[self.is_v2]
            )
        except ChannelError:
            return None
        result = response.responses[0].partition_responses[0]
        error = ErrorCode(result.error_code)
        if error is ErrorCode.NONE:
            return int(result.base_offset)
        if error is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            return -1
        if error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            self._record(ProducerFailed(self.name, partition, sequence, error.name))
        if not error.retriable:
            raise RefusedError(error)
        return None

    async def _commit_offsets(
        self, group: CoordinatorClient, offsets: Mapping[TopicPartition, LogPosition]
    ) -> bool:
        request = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group.group,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name=name.topic,
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=name.partition,
                            committed_offset=position.offset,
                            committed_leader_epoch=position.leader_epoch,
                        )
                    ],
                )
                for name, position in offsets.items()
            ],
        )
        self._offsets_request = request
        response = await group.send_request(request, _OFFSETS_VERSIONS[self.is_v2])
        if response is None:
            if not self.is_v2 and group.has_sent:
                raise RefusedError(ErrorCode.NETWORK_EXCEPTION)
            return False
        errors = [
            group.handle_error(partition.error_code)
            for topic in response.topics
            for partition in topic.partitions
        ]
        for error in errors:
            if error and not error.retriable:
                raise RefusedError(error)
        return not any(errors)

    async def _send_until_answered(
        self, request: Message, version: int, *, retries_unanswered: bool = True
    ) -> Any:
        """The response without error; retries retriable errors, raises `RefusedError` for
        others.
        """
        while True:
            response = await self._coordinator.send_request(request, version)
            if response is not None:
                error = self._coordinator.handle_error(_error_of(response))
                if error is ErrorCode.NONE:
                    return response
                if not error.retriable:
                    raise RefusedError(error)
            elif not retries_unanswered and self._coordinator.has_sent:
                raise RefusedError(ErrorCode.NETWORK_EXCEPTION)
            await self._coordinator.back_off()


def _error_of(response: Any) -> int:
    results = getattr(response, "results_by_topic_v3_and_below", None)
    if results is None:
        return int(response.error_code)
    return int(results[0].results_by_partition[0].partition_error_code)
