"""Opens connections to other brokers, at their registered inter-broker endpoints."""

from __future__ import annotations

from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.channels import ChannelSecurity, Peer
from ottla.channels.peer import ReconnectBackoff
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.network import Address, Network
from ottla.runtime.tasks import Tasks

_BACKOFF: Final = ReconnectBackoff(first_ms=10, max_ms=500, connect_timeout_ms=2_000)


class BrokerConnector:
    """Opens peers. The caller owns and closes them."""

    def __init__(
        self,
        cluster: ClusterView,
        network: Network,
        clock: Clock,
        dice: Dice,
        tasks: Tasks,
        security: ChannelSecurity,
    ) -> None:
        self._cluster = cluster
        self._network = network
        self._clock = clock
        self._dice = dice
        self._tasks = tasks
        self._security = security

    def open(self, node_id: int, purpose: str) -> Peer:
        """A new peer, which connects with its first request. `purpose` is part of the client id."""
        return Peer(
            self._network,
            self._clock,
            self._dice,
            self._tasks,
            lambda: self._address_of(node_id),
            client_id=f"ottla-{self._cluster.node_id}-{purpose}",
            backoff=_BACKOFF,
            security=self._security,
        )

    def _address_of(self, node_id: int) -> Address | None:
        """The address of a broker's inter-broker listener; None if it is not registered."""
        registration = self._cluster.image.brokers.get(node_id)
        name = self._cluster.config.listeners.inter_broker_listener_name
        for endpoint in () if registration is None else registration.endpoints:
            if endpoint.name == name:
                return Address(endpoint.host, endpoint.port)
        return None
