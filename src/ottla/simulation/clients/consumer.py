"""A consumer of one partition, `ottla.client.Consumer`, whose responses are in the history."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final

from ottla.client.consuming.consumer import Consumer
from ottla.client.consuming.errors import InvalidOffsetError
from ottla.client.errors import ClientError
from ottla.client.records import ConsumedRecord, OffsetAndMetadata
from ottla.model import Offset, TimestampMs, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.client_properties import client_properties, client_seams
from ottla.simulation.clients.cluster_client import LogPosition
from ottla.simulation.history.history import Event, Read, ReaderLost, WatermarkSeen
from ottla.simulation.world.host import Host
from ottla.wire.messages.fetch import FetchRequest, PartitionData
from ottla.wire.records.record import Record

_WAIT_SECONDS: Final = 0.5
_BACKOFF_SECONDS: Final = 0.1
_FETCH_BYTES: Final = 1 << 16


class SimulatedConsumer:
    """Reads one partition from its beginning and follows leader changes, in the process of a
    host."""

    isolation_level = "read_uncommitted"

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        partition: TopicPartition,
        *,
        name: str,
    ) -> None:
        self.name = name
        self.partition = partition
        self._host = host
        self._bootstrap = list(bootstrap)
        self._record = record
        self._consumer: Consumer | None = None
        self._position = LogPosition(0)
        # By node: the leader epoch of which the partition was last requested.
        self._requested: dict[int, int] = {}

    @property
    def position(self) -> int:
        """The offset of the next record."""
        return self._position.offset

    @position.setter
    def position(self, offset: int) -> None:
        self.go_on(LogPosition(offset))

    @property
    def leader_epoch(self) -> int:
        """That of the last record, -1 if it is not known."""
        return self._position.leader_epoch

    def go_on(self, position: LogPosition) -> None:
        """Continues from a committed position."""
        self._position = position
        if self._consumer is not None:
            self._consumer.seek(self.partition, OffsetAndMetadata(*position))

    async def poll(self) -> list[Record]:
        """The next records; an empty list if none came within half a second."""
        consumer = self._consumer
        if consumer is None:
            # Made in the process that uses it.
            consumer = self._consumer = self._made()
        try:
            found = await consumer.poll(_WAIT_SECONDS)
        except ClientError as error:
            if isinstance(error, InvalidOffsetError):
                self._record(ReaderLost(self.name, self.partition, self.position))
            # A refusal, or a damaged batch, may be none the next time.
            await self._host.clock.sleep(_BACKOFF_SECONDS)
            return []
        known = consumer.known_position(self.partition)
        if known is not None:
            self._position = LogPosition(known.offset, known.leader_epoch)
        for record in found:
            self._note_read(record)
        return [
            Record(
                Offset(each.offset),
                TimestampMs(each.timestamp),
                each.key,
                each.value,
                each.headers,
            )
            for each in found
        ]

    async def records(self) -> AsyncIterator[Record]:
        """All records as they arrive, without end."""
        while True:
            for record in await self.poll():
                yield record

    def _made(self) -> Consumer:
        consumer = Consumer(
            {
                **client_properties(self._host, self._bootstrap, self.name),
                "auto.offset.reset": "none",
                "isolation.level": self.isolation_level,
                "max.partition.fetch.bytes": _FETCH_BYTES,
                "allow.auto.create.topics": False,
            },
            seams=client_seams(self._host, self.name, self._observe),
        )
        consumer.assign([self.partition])
        consumer.seek(self.partition, OffsetAndMetadata(*self._position))
        return consumer

    def _observe(self, node_id: int, request: object, response: Any) -> None:
        if not isinstance(request, FetchRequest):
            return
        # A fetch session leaves out what has not changed.
        for topic in request.topics:
            for requested in topic.partitions:
                self._requested[node_id] = requested.current_leader_epoch
        for answered in response.responses:
            for data in answered.partitions:
                leader_epoch = self._requested[node_id]
                # Of a position that was not validated, the epoch may not be known.
                if not data.error_code and leader_epoch >= 0:
                    self._note_offsets(node_id, leader_epoch, data)

    def _note_offsets(self, node_id: int, leader_epoch: int, data: PartitionData) -> None:
        self._record(
            WatermarkSeen(self.name, self.partition, node_id, leader_epoch, data.high_watermark)
        )

    def _note_read(self, record: ConsumedRecord) -> None:
        self._record(Read(self.name, self.partition, record.offset, record.value or b""))
