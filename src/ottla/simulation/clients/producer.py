"""An idempotent producer with acks=all, `ottla.client.Producer`, that retries without end.

So once the faults are over, everything it sent must be acknowledged, or the cluster or the client
has a bug. It is one as well if the producer has to go on under another epoch: then a leader has
lost its sequence numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.client.errors import ApiError, ClientError, RefusedConnectionError
from ottla.client.producing.producer import Producer
from ottla.model import ErrorCode, Offset, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.client_properties import client_properties, client_seams
from ottla.simulation.clients.refusals import is_refusal
from ottla.simulation.history.history import Acknowledged, Event, ProducerFailed, Sent
from ottla.simulation.world.host import Host
from ottla.wire.messages.produce import ProduceRequest
from ottla.wire.records.header import read_header
from ottla.wire.records.record import Record

_FOREVER_MS: Final = 2**31 - 1


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
        self._host = host
        self._bootstrap = list(bootstrap)
        self._record = record
        self._producer: Producer | None = None
        self._epoch = 0
        self._last_error = ErrorCode.NONE
        self._was_refused = False

    async def send(self, partition: TopicPartition, *values: bytes) -> int:
        """Writes records as one batch and returns the first one's offset when they are
        acknowledged, -1 if the leader knows only that it has them.

        Retries until then. Raises `ClientError` if the records or the client were refused,
        and `RuntimeError` for an error after which an idempotent producer cannot continue.
        """
        now_ms = self._host.clock.now_ms()
        records = [Record(Offset(at), now_ms, None, value) for at, value in enumerate(values)]
        return await self.send_records(partition, records)

    async def send_records(self, partition: TopicPartition, records: Sequence[Record]) -> int:
        """As `send`; the offsets of the records do not matter."""
        producer = self._producer
        if producer is None:
            # Made in the process that uses it.
            producer = self._producer = self._made()
        await producer.partitions_for(partition.topic)
        values = [record.value or b"" for record in records]
        for value in values:
            self._record(Sent(self.name, partition, value))
        deliveries = [
            await producer.send(
                partition.topic,
                record.value,
                key=record.key,
                partition=partition.partition,
                timestamp=record.timestamp,
                headers=record.headers,
            )
            for record in records
        ]
        try:
            offsets = [(await delivery).offset for delivery in deliveries]
        except ClientError as error:
            if isinstance(error, RefusedConnectionError) or (
                isinstance(error, ApiError) and is_refusal(error.code)
            ):
                self._was_refused = True
                raise
            self._record(ProducerFailed(self.name, partition, -1, str(error)))
            raise RuntimeError(f"{self.name} cannot continue: {error}") from error
        for value, offset in zip(values, offsets, strict=True):
            self._record(Acknowledged(self.name, partition, value, offset))
        return offsets[0]

    def _made(self) -> Producer:
        return Producer(
            {
                **client_properties(self._host, self._bootstrap, self.name),
                "delivery.timeout.ms": _FOREVER_MS,
                "max.block.ms": _FOREVER_MS,
                "linger.ms": 0,
            },
            seams=client_seams(self._host, self.name, self._observe),
        )

    def _observe(self, _node_id: int, request: object, response: Any) -> None:
        if not isinstance(request, ProduceRequest):
            return
        for answered in response.responses:
            for result in answered.partition_responses:
                if result.error_code:
                    self._last_error = ErrorCode(result.error_code)
        for topic in request.topic_data:
            for data in topic.partition_data:
                header = read_header(data.records or b"")
                if header.producer_epoch > self._epoch:
                    self._epoch = header.producer_epoch
                    if not self._was_refused:
                        partition = TopicPartition(topic.name, data.index)
                        sequence, error = header.base_sequence, self._last_error.name
                        self._record(ProducerFailed(self.name, partition, sequence, error))
