"""A consumer that reads one partition from its beginning and follows leader changes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient, KnownLeader, LogPosition
from ottla.simulation.history.history import Event, Read, ReaderLost, WatermarkSeen
from ottla.simulation.world.host import Host
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.records.batch import crc_matches, iterate_batches
from ottla.wire.records.record import Record, iterate_records

_FETCH_VERSION: Final = 12
_FETCH_BYTES: Final = 1 << 16
_WAIT_MS: Final = 500


class SimulatedConsumer:
    """A consumer of one partition, in the process of a host."""

    isolation_level = 0

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
        self.position = 0
        self.leader_epoch = -1
        self._client = ClusterClient(host, bootstrap, name=name)
        self._record = record

    def go_on(self, position: LogPosition) -> None:
        """Continues from a committed position."""
        self.position, self.leader_epoch = position
        self._client.has_seen(self.partition, position.leader_epoch)

    async def poll(self) -> list[Record]:
        """The next records; an empty list if none came within the fetch's wait."""
        leader = await self._client.wait_leader(self.partition)
        requested = FetchPartition(
            partition=self.partition.partition,
            # Only the leader of this epoch accepts the request.
            current_leader_epoch=leader.leader_epoch,
            fetch_offset=self.position,
            partition_max_bytes=_FETCH_BYTES,
        )
        request = FetchRequest(
            max_wait_ms=_WAIT_MS,
            min_bytes=1,
            isolation_level=self.isolation_level,
            session_epoch=-1,
            topics=[FetchTopic(topic=self.partition.topic, partitions=[requested])],
        )
        try:
            response = await self._client.send_to_node(leader.node_id, request, _FETCH_VERSION)
        except ChannelError:
            await self._client.forget_leader(self.partition)
            return []
        return await self._take(leader, response)

    async def records(self) -> AsyncIterator[Record]:
        """All records as they arrive, without end."""
        while True:
            for record in await self.poll():
                yield record

    async def _take(self, leader: KnownLeader, response: Any) -> list[Record]:
        found = response.responses[0].partitions[0]
        if found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._record(ReaderLost(self.name, self.partition, self.position))
        if found.error_code:
            await self._client.forget_leader(self.partition)
            return []
        self._record(
            WatermarkSeen(
                self.name, self.partition, leader.node_id, leader.leader_epoch, found.high_watermark
            )
        )
        buffer = memoryview(found.records or b"")
        return self._keep(leader, found, buffer) if is_sound(buffer) else []

    def _keep(self, leader: KnownLeader, found: Any, buffer: memoryview) -> list[Record]:  # noqa: ARG002
        """The new records of complete batches; also advances the position."""
        records = []
        for position, header in iterate_batches(buffer):
            if not header.is_control:
                for record in iterate_records(buffer, position):
                    if record.offset >= self.position:
                        records.append(record)
            self.position = max(self.position, header.next_offset)
            self.leader_epoch = max(self.leader_epoch, header.leader_epoch)
        for record in records:
            self._record(Read(self.name, self.partition, record.offset, record.value or b""))
        return records


def is_sound(buffer: memoryview) -> bool:
    """Whether all checksums match. A faulty disk may return wrong data."""
    try:
        return all(crc_matches(buffer, at, header) for at, header in iterate_batches(buffer))
    except ProtocolError:
        return False
