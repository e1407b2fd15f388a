"""An idempotent producer with acks=all that never gives up.

One batch at a time for each partition, sent again with the same sequence until it is acknowledged,
to whoever leads by then. So when the faults are over, everything that it sent is acknowledged, or
the cluster has a bug.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.client.errors import ChannelError
from ottla.model import ErrorCode, Offset, ProducerEpoch, ProducerId, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.history import Acknowledged, Event, ProducerFailed, Sent
from ottla.simulation.host import Host
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


class SimulatedProducer:
    """Belongs to the process of its host."""

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

    async def send(self, partition: TopicPartition, *values: bytes) -> int:
        """Writes records as one batch; returns the first one's offset once they are acknowledged.

        Raises `RuntimeError` for an error after which an idempotent producer cannot go on.
        """
        producer_id = await self._wait_producer_id()
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = (sequence + len(values)) % _SEQUENCES
        now_ms = self._clock.now_ms()
        batch = build_batch(
            [Record(Offset(at), now_ms, None, value) for at, value in enumerate(values)],
            producer_id=ProducerId(producer_id),
            producer_epoch=ProducerEpoch(0),
            base_sequence=sequence,
        )
        for value in values:
            self._record(Sent(self.name, partition, value))
        while True:
            offset = await self._try(partition, bytes(batch), values)
            if offset is not None:
                break
        for at, value in enumerate(values):
            self._record(
                Acknowledged(self.name, partition, value, offset + at if offset >= 0 else -1)
            )
        return offset

    async def _try(
        self, partition: TopicPartition, batch: bytes, values: Sequence[bytes]
    ) -> int | None:
        leader = await self._client.wait_leader(partition)
        data = PartitionProduceData(index=partition.partition, records=batch)
        request = ProduceRequest(
            acks=_ACKS_ALL,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
        )
        try:
            response: Any = await self._client.ask_node(leader.node_id, request, _PRODUCE_VERSION)
        except ChannelError:
            await self._client.forget_leader(partition)
            return None
        result = response.responses[0].partition_responses[0]
        error = ErrorCode(result.error_code)
        if error is ErrorCode.NONE:
            offset: int = result.base_offset
            return offset
        if error is ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            return -1
        if not error.retriable or error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            self._record(ProducerFailed(self.name, partition, values[0], error.name))
            raise RuntimeError(f"{self.name} cannot go on: {error.name} {result.error_message}")
        await self._client.forget_leader(partition)
        return None

    async def _wait_producer_id(self) -> int:
        while self._producer_id is None:
            request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
            try:
                response = await self._client.ask_any(request, _INIT_VERSION)
            except ChannelError:
                response = None
            if response is not None and response.error_code == 0:
                self._producer_id = response.producer_id
            else:
                await self._client.back_off()
        return self._producer_id
