"""Other brokers, as one that coordinates asks them.

Requests go in lanes, a connection each, because a node answers those of one connection in order:
a question about a transaction must not wait for markers that wait for replicas.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Any, Final

from ottla.client import Peer
from ottla.client.peer import ReconnectBackoff
from ottla.runtime.network import Address, Network
from ottla.wire.schema import Message

if TYPE_CHECKING:
    from ottla.broker.broker import Broker

_BACKOFF: Final = ReconnectBackoff(first_ms=10, max_ms=500, connect_timeout_ms=2_000)


class PeerLane(Enum):
    MARKERS = auto()
    VERIFICATION = auto()


class BrokerPeers:
    """Made with the broker. Owned by the node's loop; its connections are ended by `close`."""

    def __init__(self, broker: Broker, network: Network) -> None:
        self._broker = broker
        self._network = network
        self._peers: dict[tuple[int, PeerLane], Peer] = {}

    async def send(
        self, node_id: int, lane: PeerLane, request: Message, version: int, *, timeout_ms: int
    ) -> Any:
        """The response. Raises `ChannelError` if the node cannot be connected to or does not
        answer in time."""
        peer = self._peers.get((node_id, lane))
        if peer is None:
            peer = self._peers[node_id, lane] = self._open(node_id, lane)
        return await peer.send(request, version, timeout_ms=timeout_ms)

    def close(self) -> None:
        for peer in self._peers.values():
            peer.close()

    def _open(self, node_id: int, lane: PeerLane) -> Peer:
        broker = self._broker
        return Peer(
            self._network,
            broker.clock,
            broker.dice,
            broker.tasks,
            lambda: inter_broker_address(broker, node_id),
            client_id=f"ottla-{broker.node_id}-{lane.name.lower()}",
            backoff=_BACKOFF,
        )


def inter_broker_address(broker: Broker, node_id: int) -> Address | None:
    """Where other brokers reach a broker, if it is registered."""
    registration = broker.image.brokers.get(node_id)
    name = broker.config.listeners.inter_broker_listener_name
    for endpoint in () if registration is None else registration.endpoints:
        if endpoint.name == name:
            return Address(endpoint.host, endpoint.port)
    return None
