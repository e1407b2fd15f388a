"""Common code of the simulated clients: finds leaders, sends requests and retries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ottla.channels import Peer
from ottla.channels.errors import ChannelError
from ottla.channels.peer import ReconnectBackoff
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
    """The leader of a partition according to the last metadata response."""

    node_id: int
    leader_epoch: int


class LogPosition(NamedTuple):
    """A reader's position and the latest leader epoch it has read. Both are committed, so that the
    next reader rejects older leaders.
    """

    offset: int
    leader_epoch: int = -1


class ClusterClient:
    """Sends requests to a cluster. Belongs to the process of its host."""

    def __init__(self, host: Host, bootstrap: Sequence[Address], *, name: str) -> None:
        assert host.loop is not None, f"{host.name} has no process"
        self.host = host
        self.dice = host.dice.fork(name)
        self._name = name
        self._bootstrap = list(bootstrap)
        self._peers: dict[Address, Peer] = {}
        self._addresses: dict[int, Address] = {}
        self._leaders: dict[TopicPartition, KnownLeader] = {}
        # The latest leader epoch seen per partition. A node that lags may return an older leader,
        # and a deposed leader rejects the sequence numbers that follow batches on its successor.
        self._epochs: dict[TopicPartition, int] = {}
        # Errors of these tasks are reported to the callers that await them.
        self._tasks = Tasks(lambda _name, _error: None)

    def leader(self, partition: TopicPartition) -> KnownLeader | None:
        return self._leaders.get(partition)

    def has_seen(self, partition: TopicPartition, leader_epoch: int) -> None:
        """Ignores leaders of older epochs from now on."""
        self._epochs[partition] = max(leader_epoch, self._epochs.get(partition, -1))

    async def send_to_node(
        self, node_id: int, request: Message, version: int, *, timeout_ms: int = _TIMEOUT_MS
    ) -> Any:
        """Raises `ChannelError` if there is no response."""
        return await self._send(self._addresses[node_id], request, version, timeout_ms=timeout_ms)

    async def send_to_address(
        self, address: Address, request: Message, version: int, *, timeout_ms: int = _TIMEOUT_MS
    ) -> Any:
        return await self._send(address, request, version, timeout_ms=timeout_ms)

    async def send_to_any(
        self, request: Message, version: int, *, timeout_ms: int = _TIMEOUT_MS
    ) -> Any:
        address = self.dice.choice(self._bootstrap)
        return await self._send(address, request, version, timeout_ms=timeout_ms)

    async def refresh(self, topic: str) -> None:
        """Updates the leaders of a topic's partitions, if a node responds."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
        )
        try:
            response = await self.send_to_any(request, _METADATA_VERSION, timeout_ms=2_000)
        except ChannelError:
            return
        for broker in response.brokers:
            self._addresses[broker.node_id] = Address(broker.host, broker.port)
        for found in response.topics:
            for partition in found.partitions:
                self._learn(TopicPartition(found.name, partition.partition_index), partition)

    async def wait_leader(self, partition: TopicPartition) -> KnownLeader:
        """Refreshes the metadata until the partition has a leader."""
        while (leader := self._leaders.get(partition)) is None:
            await self.refresh(partition.topic)
            if partition not in self._leaders:
                await self.back_off()
        return leader

    async def forget_leader(self, partition: TopicPartition) -> None:
        """Drops a leader that failed or did not respond, and waits before the next attempt."""
        self._leaders.pop(partition, None)
        await self.back_off()

    async def back_off(self) -> None:
        await self.host.clock.sleep(self.dice.jitter(_RETRY_SECONDS, fraction=0.5))

    def close(self) -> None:
        """Closes all connections."""
        for peer in self._peers.values():
            peer.close()

    def _learn(self, partition: TopicPartition, said: Any) -> None:
        if said.leader_id < 0 or said.leader_id not in self._addresses:
            return
        if said.leader_epoch >= self._epochs.get(partition, -1):
            self._epochs[partition] = said.leader_epoch
            self._leaders[partition] = KnownLeader(said.leader_id, said.leader_epoch)

    async def _send(
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
                security=self.host.channel_security(address),
            )
        return await peer.send(request, version, timeout_ms=timeout_ms)
