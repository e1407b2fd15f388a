"""Registers schemas as a registry does: with records in the topic of schemas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.model import Offset, TopicPartition
from ottla.runtime.network import Address
from ottla.schemas import SchemaType
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.world.host import Host
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.records.builder import build_batch
from ottla.wire.records.record import Record

_PRODUCE_VERSION: Final = 12
_ACKS_ALL: Final = -1
_TIMEOUT_MS: Final = 3_000


class SimulatedRegistrar:
    """Belongs to the process of its host."""

    def __init__(self, host: Host, bootstrap: Sequence[Address], *, topic: str) -> None:
        self._client = ClusterClient(host, bootstrap, name=host.name)
        self._clock = host.clock
        self._partition = TopicPartition(topic, 0)

    async def register(self, subject: str, id_: int) -> None:
        """Retries until it is acknowledged."""
        # Needs the extra `ottla[web]`, like a broker that checks schemas.
        from ottla.schemas.registered.records import SchemaWritten, encode_change
        from ottla.schemas.registered.schema_version import RegisteredSchema, SchemaVersion

        schema = RegisteredSchema(SchemaType.AVRO, '"bytes"')
        version = SchemaVersion(subject, id_, id_, schema, schema.digest())
        change = encode_change(SchemaWritten(version))
        record = Record(Offset(0), self._clock.now_ms(), change.key, change.value)
        while not await self._try(bytes(build_batch([record]))):
            await self._client.forget_leader(self._partition)

    async def _try(self, batch: bytes) -> bool:
        leader = await self._client.wait_leader(self._partition)
        data = PartitionProduceData(index=0, records=batch)
        request = ProduceRequest(
            acks=_ACKS_ALL,
            timeout_ms=_TIMEOUT_MS,
            topic_data=[TopicProduceData(name=self._partition.topic, partition_data=[data])],
        )
        try:
            response: Any = await self._client.send_to_node(
                leader.node_id, request, _PRODUCE_VERSION
            )
        except ChannelError:
            return False
        return bool(response.responses[0].partition_responses[0].error_code == 0)
