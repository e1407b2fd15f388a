"""Requests of a coordinator to other brokers.

Requests go in lanes, a connection each, because a node answers those of one connection in order:
the verification of a transaction must not wait for markers that wait for replicas.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from ottla.broker.control.broker_connector import BrokerConnector
from ottla.client import Peer
from ottla.wire.schema import Message


class PeerLane(Enum):
    MARKERS = auto()
    VERIFICATION = auto()


class BrokerPeers:
    """Owned by the node's loop; its connections are ended by `close`."""

    def __init__(self, connector: BrokerConnector) -> None:
        self._connector = connector
        self._peers: dict[tuple[int, PeerLane], Peer] = {}

    async def send(
        self, node_id: int, lane: PeerLane, request: Message, version: int, *, timeout_ms: int
    ) -> Any:
        """The response. Raises `ChannelError` if the node cannot be connected to or does not
        answer in time."""
        peer = self._peers.get((node_id, lane))
        if peer is None:
            peer = self._connector.open(node_id, lane.name.lower())
            self._peers[node_id, lane] = peer
        return await peer.send(request, version, timeout_ms=timeout_ms)

    def close(self) -> None:
        for peer in self._peers.values():
            peer.close()
