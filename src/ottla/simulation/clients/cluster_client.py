"""What every simulated client does: find out who leads what, ask, and ask again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ottla.client import Peer
from ottla.client.errors import ChannelError
from ottla.client.peer import ReconnectBackoff
from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.runtime.tasks import Tasks
from ottla.simulation.world.host import Host
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.schema import Message

_METADATA_VERSION: Final = 12
_BACKOFF: Final = ReconnectBackoff(first_ms=20, max_ms=500, connect_timeout_ms=2_000)
_RETRY_SECONDS: Final = 0.05
_TIMEOUT_MS: Final = 5_000


class KnownLeader(NamedTuple):
    """Of a partition, as far as a client was told."""

    node_id: int
    leader_epoch: int


class LogPosition(NamedTuple):
    """How far a reader has come, and the latest epoch that it has seen there: what it commits, so
    that whoever goes on believes no older leader."""

    offset: int
    leader_epoch: int = -1


class ClusterClient:
    """Belongs to the process of its host."""

    def __init__(self, host: Host, bootstrap: Sequence[Address], *, name: str) -> None:
        assert host.loop is not None, f"{host.name} has no process"
        self.host = host
        self.dice = host.dice.fork(name)
        self._name = name
        self._bootstrap = list(bootstrap)
        self._peers: dict[Address, Peer] = {}
        self._addresses: dict[int, Address] = {}
        self._leaders: dict[TopicPartition, KnownLeader] = {}
        # The latest that anybody has told: a node that is behind tells what was, and a leader that
        # was deposed refuses what follows on what its successor has.
        self._epochs: dict[TopicPartition, int] = {}
        # What ends a task here was told to whoever waits for it.
        self._tasks = Tasks(lambda _name, _error: None)

    def leader(self, partition: TopicPartition) -> KnownLeader | None:
        return self._leaders.get(partition)

    def has_seen(self, partition: TopicPartition, leader_epoch: int) -> None:
        """Who led it in an older epoch is not believed any more."""
        self._epochs[partition] = max(leader_epoch, self._epochs.get(partition, -1))

    async def ask_node(
        self, node_id: int, request: Message, version: int, *, timeout_ms: int = _TIMEOUT_MS
    ) -> Any:
        """Raises `ChannelError` if there is no answer."""
        return await self._ask(self._addresses[node_id], request, version, timeout_ms=timeout_ms)

    async def ask_address(
        self, address: Address, request: Message, version: int, *, timeout_ms: int = _TIMEOUT_MS
    ) -> Any:
        return await self._ask(address, request, version, timeout_ms=timeout_ms)

    async def ask_any(
        self, request: Message, version: int, *, timeout_ms: int = _TIMEOUT_MS
    ) -> Any:
        address = self.dice.choice(self._bootstrap)
        return await self._ask(address, request, version, timeout_ms=timeout_ms)

    async def refresh(self, topic: str) -> None:
        """Learns who leads a topic's partitions, if somebody answers that."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
        )
        try:
            response = await self.ask_any(request, _METADATA_VERSION, timeout_ms=2_000)
        except ChannelError:
            return
        for broker in response.brokers:
            self._addresses[broker.node_id] = Address(broker.host, broker.port)
        for found in response.topics:
            for partition in found.partitions:
                self._learn(TopicPartition(found.name, partition.partition_index), partition)

    async def wait_leader(self, partition: TopicPartition) -> KnownLeader:
        """Asks until somebody leads it."""
        while (leader := self._leaders.get(partition)) is None:
            await self.refresh(partition.topic)
            if partition not in self._leaders:
                await self.back_off()
        return leader

    async def forget_leader(self, partition: TopicPartition) -> None:
        """It was not the leader, or did not answer: somebody is asked again after a moment."""
        self._leaders.pop(partition, None)
        await self.back_off()

    async def back_off(self) -> None:
        await self.host.clock.sleep(self.dice.jitter(_RETRY_SECONDS, fraction=0.5))

    def _learn(self, partition: TopicPartition, said: Any) -> None:
        if said.leader_id < 0 or said.leader_id not in self._addresses:
            return
        if said.leader_epoch >= self._epochs.get(partition, -1):
            self._epochs[partition] = said.leader_epoch
            self._leaders[partition] = KnownLeader(said.leader_id, said.leader_epoch)

    async def _ask(
        self, address: Address, request: Message, version: int, *, timeout_ms: int
    ) -> Any:
        peer = self._peers.get(address)
        if peer is None:
            peer = self._peers[address] = Peer(
                self.host.network,
                self.host.clock,
                self.dice,
                self._tasks,
                lambda: address,
                client_id=self._name,
                backoff=_BACKOFF,
            )
        return await peer.send(request, version, timeout_ms=timeout_ms)
