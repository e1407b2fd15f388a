"""An idempotent producer with acks=all that retries without end.

It resends each batch with the same sequence number to the current leader until it is acknowledged.
So once the faults are over, everything it sent must be acknowledged, or the cluster has a bug. Up
to five batches per partition may be in flight, but the very first is sent alone: a leader without
state of a producer accepts any sequence number as its first. As in Kafka's own client, batches are
resent one at a time and in order, and no new batch is sent meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, Offset, ProducerEpoch, ProducerId, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.clients.refusals import is_refusal
from ottla.simulation.history.history import Acknowledged, Event, ProducerFailed, Sent
from ottla.simulation.world.host import Host
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record

_PRODUCE_VERSION: Final = 12
_INIT_VERSION: Final = 4
_ACKS_ALL: Final = -1
_TIMEOUT_MS: Final = 3_000
_SEQUENCES: Final = 2**31
_UNDER_WAY_MAX: Final = 5


class SimulatedProducer:
    """An idempotent producer in the process of a host."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        *,
        name: str,
    ) -> None:
        self.name = name
        self._client = ClusterClient(host, bootstrap, name=name)
        self._clock = host.clock
        self._record = record
        self._producer_id: int | None = None
        self._sequences: dict[TopicPartition, int] = {}
        self._pipelines: dict[TopicPartition, _Pipeline] = {}

    async def send(self, partition: TopicPartition, *values: bytes) -> int:
        """Writes records as one batch and returns the first one's offset when they are
        acknowledged.

        Retries until then. Raises `RuntimeError` for an error after which an idempotent producer
        cannot continue.
        """
        now_ms = self._clock.now_ms()
        records = [Record(Offset(at), now_ms, None, value) for at, value in enumerate(values)]
        return await self.send_records(partition, records)

    async def send_records(self, partition: TopicPartition, records: Sequence[Record]) -> int:
        """As `send`; the records have offsets from 0 on."""
        values = [record.value or b"" for record in records]
        producer_id = await self._wait_producer_id()
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = (sequence + len(records)) % _SEQUENCES
        batch = build_batch(
            records,
            producer_id=ProducerId(producer_id),
            producer_epoch=ProducerEpoch(0),
            base_sequence=sequence,
        )
        for value in values:
            self._record(Sent(self.name, partition, value))
        pipeline = self._pipelines.setdefault(partition, _Pipeline())
        await pipeline.enter(sequence)
        while (offset := await self._try(partition, bytes(batch), sequence)) is None:
            await pipeline.wait_turn(sequence)
        pipeline.leave(sequence)
        for at, value in enumerate(values):
            self._record(
                Acknowledged(self.name, partition, value, offset + at if offset >= 0 else -1)
            )
        return offset

    async def _try(self, partition: TopicPartition, batch: bytes, sequence: int) -> int | None:
        leader = await self._client.wait_leader(partition)
        data = PartitionProduceData(index=partition.partition, records=batch)
        request = ProduceRequest(
            acks=_ACKS_ALL,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
        )
        try:
            response: Any = await self._client.send_to_node(
                leader.node_id, request, _PRODUCE_VERSION
            )
        except ChannelError:
            self._pipelines[partition].send_again(sequence)
            await self._client.forget_leader(partition)
            return None
        result = response.responses[0].partition_responses[0]
        error = ErrorCode(result.error_code)
        if error is ErrorCode.NONE:
            offset: int = result.base_offset
            return offset
        if error is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            return -1
        has_overtaken = (
            error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            and self._pipelines[partition].first != sequence
        )
        # An administrator may allow again what is refused now.
        if not (error.retriable or has_overtaken or is_refusal(error)):
            self._record(ProducerFailed(self.name, partition, sequence, error.name))
            raise RuntimeError(f"{self.name} cannot continue: {error.name} {result.error_message}")
        self._pipelines[partition].send_again(sequence)
        await self._client.forget_leader(partition)
        return None

    async def _wait_producer_id(self) -> int:
        while self._producer_id is None:
            request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
            try:
                response = await self._client.send_to_any(request, _INIT_VERSION)
            except ChannelError:
                response = None
            if response is None or response.error_code:
                await self._client.back_off()
            elif self._producer_id is None:
                # Another partition's first batch may have been faster. With a second id, a batch in
                # the middle could become the first one that a leader knows.
                self._producer_id = response.producer_id
        return self._producer_id


class _Pipeline:
    """The batches in flight for a partition, in order."""

    def __init__(self) -> None:
        self._sequences: list[int] = []
        self._room = 1
        self._again: set[int] = set()
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def first(self) -> int:
        return self._sequences[0]

    async def enter(self, sequence: int) -> None:
        """Waits until no batch has to be resent and fewer than the maximum are in flight."""
        self._sequences.append(sequence)
        while self._again or sequence not in self._sequences[: self._room]:
            await self._wait()

    def send_again(self, sequence: int) -> None:
        """Marks a batch that was not acknowledged. Until it is, no new batch is sent."""
        self._again.add(sequence)

    async def wait_turn(self, sequence: int) -> None:
        """Waits until this batch, which has to be resent, is the first in flight."""
        while self.first != sequence:
            await self._wait()

    def leave(self, sequence: int) -> None:
        self._sequences.remove(sequence)
        self._room = _UNDER_WAY_MAX
        self._again.discard(sequence)
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    async def _wait(self) -> None:
        changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(changed)
        await changed
