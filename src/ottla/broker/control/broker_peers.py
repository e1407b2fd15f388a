"""Requests of coordinators and leaders to other brokers.

Each lane has its own connection, because a node handles the requests of one connection in order:
transaction verification must not wait for WriteTxnMarkers, which waits for replication.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from ottla.broker.control.broker_connector import BrokerConnector
from ottla.channels import Peer
from ottla.wire.schema import Message


class PeerLane(Enum):
    MARKERS = auto()
    VERIFICATION = auto()
    MONITORING = auto()
    SHARES = auto()
    SCHEMAS = auto()
    DEAD_LETTERS = auto()


class BrokerPeers:
    """Owned by the node's loop. `close` closes its connections."""

    def __init__(self, connector: BrokerConnector) -> None:
        self._connector = connector
        self._peers: dict[tuple[int, PeerLane], Peer] = {}

    async def send(
        self, node_id: int, lane: PeerLane, request: Message, version: int, *, timeout_ms: int
    ) -> Any:
        """Returns the response. Raises `ChannelError` if the connection fails or the request times
        out."""
        peer = self._peers.get((node_id, lane))
        if peer is None:
            peer = self._connector.open(node_id, lane.name.lower())
            self._peers[node_id, lane] = peer
        return await peer.send(request, version, timeout_ms=timeout_ms)

    def close(self) -> None:
        for peer in self._peers.values():
            peer.close()
