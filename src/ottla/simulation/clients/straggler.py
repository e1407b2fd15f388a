"""Sends requests that arrive late, after their client has given them up or continued.

A network may delay a request and deliver it at any time, on a connection that its client has long
closed. The responses are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from typing import Final

from ottla.channels.errors import ChannelError
from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.clients.group_coordinator import TRANSACTION_KEY, CoordinatorClient
from ottla.simulation.world.host import Host
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.wire.schema import Message

_MARKERS_VERSION: Final = 2
# From slightly late to long after everything else.
_DELAYS_MS: Final = (0, 1, 3, 10, 100, 1_000)


class Straggler:
    """Sends late requests on its own connections. Belongs to the process of its host."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        *,
        transactional_id: str,
        group: str,
        name: str,
    ) -> None:
        self._host = host
        self._dice = host.dice.fork(f"{name} late")
        self._client = ClusterClient(host, bootstrap, name=f"{name} late")
        self._transactions = CoordinatorClient(
            host, bootstrap, transactional_id, name=f"{name} late end", key_type=TRANSACTION_KEY
        )
        self._group = CoordinatorClient(host, bootstrap, group, name=f"{name} late offsets")

    def write(self, partition: TopicPartition, request: Message, version: int) -> None:
        self._host.run("late write", self._write(partition, request, version))

    def end(self, request: Message, version: int) -> None:
        self._host.run("late end", self._send_request(self._transactions, request, version))

    def commit_offsets(self, request: Message, version: int) -> None:
        self._host.run("late offsets", self._send_request(self._group, request, version))

    def mark(self, partitions: Sequence[TopicPartition], marker: WritableTxnMarker) -> None:
        """Sends a coordinator's marker again to each partition."""
        for name in partitions:
            topic = WritableTxnMarkerTopic(name=name.topic, partition_indexes=[name.partition])
            marked = copy(marker)
            marked.topics = [topic]
            request = WriteTxnMarkersRequest(markers=[marked])
            self._host.run("late marker", self._write(name, request, _MARKERS_VERSION))

    async def _write(self, partition: TopicPartition, request: Message, version: int) -> None:
        leader = await self._client.wait_leader(partition)
        await self._wait()
        with suppress(ChannelError):
            await self._client.send_to_node(leader.node_id, request, version)

    async def _send_request(
        self, coordinator: CoordinatorClient, request: Message, version: int
    ) -> None:
        await self._wait()
        await coordinator.send_request(request, version)

    async def _wait(self) -> None:
        delay_ms = self._dice.choice(_DELAYS_MS)
        await self._host.clock.sleep(self._dice.jitter(delay_ms, fraction=0.5) / 1_000)
