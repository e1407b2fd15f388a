"""A client of a tenant: writes to a topic that every tenant has under the same name, and looks at
whatever it can see."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.channels.errors import ChannelError
from ottla.model import Offset, TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.history.history import Event, Sent
from ottla.simulation.history.tenant_events import TenantSaw
from ottla.simulation.world.host import Host
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.list_groups import ListGroupsRequest
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.records import Record, build_batch
from ottla.wire.records.batch import crc_matches, iterate_batches

TENANT_TOPIC: Final = "tenants-own"
# More topics are created and deleted than a tenant may have.
EXTRA_TOPICS: Final = tuple(f"extra-{number}" for number in range(4))
_PARTITION: Final = TopicPartition(TENANT_TOPIC, 0)
# The last ones that have the topic's name.
_VERSION: Final = 12
_CREATE_VERSION: Final = 7
_DELETE_VERSION: Final = 6
_DELETE_PROBABILITY: Final = 0.2
_GROUPS_VERSION: Final = 4
_PAUSE_SECONDS: Final = 0.3
_WRITER: Final = re.compile(rb"written by ([a-z]+)")


class SimulatedTenantClient:
    """Runs until its host ends."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        *,
        tenant: str,
    ) -> None:
        self.host = host
        self._client = ClusterClient(host, bootstrap, name=host.name)
        self._record = record
        self._tenant = tenant
        self._sent = 0

    async def run(self) -> None:
        steps = (
            self._create,
            self._change_extras,
            self._look,
            self._produce,
            self._fetch,
            self._list_groups,
        )
        while True:
            for step in steps:
                try:
                    await step()
                except ChannelError:
                    await self._client.back_off()
            await self.host.clock.sleep(_PAUSE_SECONDS)

    async def _create(self) -> None:
        topic = CreatableTopic(name=TENANT_TOPIC, num_partitions=1, replication_factor=3)
        await self._client.send_to_any(CreateTopicsRequest(topics=[topic]), _CREATE_VERSION)

    async def _change_extras(self) -> None:
        name, dice = self._client.dice.choice(EXTRA_TOPICS), self._client.dice
        if dice.chance(_DELETE_PROBABILITY):
            deletion = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)])
            await self._client.send_to_any(deletion, _DELETE_VERSION)
            return
        topic = CreatableTopic(name=name, num_partitions=1, replication_factor=3)
        await self._client.send_to_any(CreateTopicsRequest(topics=[topic]), _CREATE_VERSION)

    async def _look(self) -> None:
        answer = await self._client.send_to_any(MetadataRequest(topics=None), _VERSION)
        self._saw([str(topic.name) for topic in answer.topics])
        await self._client.refresh(TENANT_TOPIC)

    async def _produce(self) -> None:
        now_ms = self.host.clock.now_ms()
        self._sent += 1
        value = f"written by {self._tenant} {self._sent}".encode()
        # Not idempotent, so each record is a producer's only one: they may be appended in any
        # order. The cluster knows the topic by its whole name.
        inside = TopicPartition(f"{self._tenant}.{TENANT_TOPIC}", 0)
        self._record(Sent(f"{self.host.name} {self._sent}", inside, value))
        record = Record(Offset(0), now_ms, None, value)
        data = PartitionProduceData(index=0, records=build_batch([record]))
        topics = [TopicProduceData(name=TENANT_TOPIC, partition_data=[data])]
        request = ProduceRequest(acks=-1, timeout_ms=2_000, topic_data=topics)
        await self._to_leader(request)

    async def _fetch(self) -> None:
        partition = FetchPartition(partition=0, partition_max_bytes=1 << 20)
        topics = [FetchTopic(topic=TENANT_TOPIC, partitions=[partition])]
        answer = await self._to_leader(
            FetchRequest(max_wait_ms=100, max_bytes=1 << 20, session_epoch=-1, topics=topics)
        )
        for topic in () if answer is None else answer.responses:
            for found in topic.partitions:
                records = memoryview(found.records or b"")
                writers = set(_WRITER.findall(records)) if _is_sound(records) else set()
                self._saw([topic.topic], sorted(writer.decode() for writer in writers))

    async def _list_groups(self) -> None:
        answer = await self._client.send_to_any(ListGroupsRequest(), _GROUPS_VERSION)
        self._saw([group.group_id for group in answer.groups])

    async def _to_leader(self, request: Any) -> Any:
        leader = self._client.leader(_PARTITION)
        if leader is None:
            return None
        return await self._client.send_to_node(leader.node_id, request, _VERSION)

    def _saw(self, names: Sequence[str], writers: Sequence[str] = ()) -> None:
        if names or writers:
            self._record(TenantSaw(self.host.name, self._tenant, tuple(names), tuple(writers)))


def _is_sound(buffer: memoryview) -> bool:
    """Whether all checksums match. A faulty disk may return wrong data."""
    try:
        return all(crc_matches(buffer, at, header) for at, header in iterate_batches(buffer))
    except ProtocolError:
        return False
