"""Connection limits of a node: in total, per listener and per client host.

| config | a connection beyond it |
|---|---|
| `max.connections` | waits in the operating system's backlog until another one closes |
| `listener.name.X.max.connections` | waits in the same way, on that listener only |
| `max.connections.per.ip` | is accepted and closed at once |

Connections that are opened too fast: broker/quotas/connection_rates.py.

The total is also limited by the available file descriptors. As in Kafka, the total never keeps
other nodes from connecting: a connection to a listener that only nodes use closes another
listener's connection that was idle for longest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.connections import Connections, OpenConnection
from ottla.broker.quotas.connection_rates import ConnectionRates
from ottla.runtime.clock import Clock
from ottla.runtime.network import Listener


class ConnectionRefusal(NamedTuple):
    """Why a connection is closed, and after how long."""

    reason: str
    seconds: float


_PER_IP: Final = ConnectionRefusal("its host has reached max.connections.per.ip", 0)
_TOO_FAST: Final = "its host opens connections faster than its quota, connection_creation_rate"


@dataclass(slots=True)
class _Port:
    name: str
    listener: Listener
    is_accepting: bool
    # Until then, connections would be opened too fast.
    throttled_until: float = 0.0


class ConnectionLimits:
    """Follows the broker's configs, dynamic ones included. Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        connections: Connections,
        clock: Clock,
        *,
        connections_max: int,
    ) -> None:
        self._cluster = cluster
        self._rates = ConnectionRates(cluster, clock)
        self._clock = clock
        self._open = connections
        self._connections_max = connections_max
        self._connections = 0
        self._of_listeners: Counter[str] = Counter()
        self._of_hosts: Counter[str] = Counter()
        self._ports: list[_Port] = []
        cluster.listen(self.accept_or_not)

    def open(self, name: str, listener: Listener) -> None:
        """Resumes accepting on a listener, now or once the node is below its limits."""
        port = _Port(name, listener, is_accepting=False)
        port.is_accepting = self._should_accept(port)
        self._ports.append(port)
        if port.is_accepting:
            listener.resume_accepting()
        else:
            listener.pause_accepting()

    def accepted(self, name: str) -> None:
        """Counts a new connection to a listener, before its host is known."""
        self._connections += 1
        self._of_listeners[name] += 1
        throttle_seconds = self._rates.accepted(name, is_for_nodes=self._is_for_nodes(name))
        if throttle_seconds:
            self._throttle(name, throttle_seconds)
        if self._connections > self._limit and self._is_for_nodes(name):
            self._close_idlest()
        self.accept_or_not()

    def refusal_of(self, name: str, host: str) -> ConnectionRefusal | None:
        """Counts the connection for its host. Returns None if the host is within its limits."""
        self._of_hosts[host] += 1
        seconds = self._rates.admitted(name, host)
        if seconds:
            return ConnectionRefusal(_TOO_FAST, seconds)
        config = self._cluster.config
        limit = config.max_connections_per_ip_overrides.get(host, config.max_connections_per_ip)
        return None if self._of_hosts[host] <= limit else _PER_IP

    def ended(self, name: str, host: str) -> None:
        """Uncounts a closed connection, admitted or not."""
        self._connections -= 1
        self._of_listeners[name] -= 1
        self._of_hosts[host] -= 1
        if not self._of_hosts[host]:
            del self._of_hosts[host]
        self.accept_or_not()

    def accept_or_not(self) -> None:
        """Pauses or resumes the listeners. Called when a count or a limit changed."""
        for port in self._ports:
            should_accept = self._should_accept(port)
            if should_accept == port.is_accepting:
                continue
            port.is_accepting = should_accept
            if should_accept:
                port.listener.resume_accepting()
            else:
                port.listener.pause_accepting()

    @property
    def _limit(self) -> int:
        return min(self._cluster.config.max_connections, self._connections_max)

    def _throttle(self, name: str, seconds: float) -> None:
        """Accepts no further connection to a listener for that time."""
        for port in self._ports:
            if port.name == name:
                port.throttled_until = self._clock.monotonic() + seconds
        self._clock.call_later(seconds, self.accept_or_not)

    def _should_accept(self, port: _Port) -> bool:
        name = port.name
        if port.throttled_until > self._clock.monotonic():
            return False
        of_listener = self._cluster.config.listener_max_connections.get(name)
        if of_listener is not None and self._of_listeners[name] >= of_listener:
            return False
        if self._connections < self._limit:
            return True
        return self._is_for_nodes(name) and any(
            count for other, count in self._of_listeners.items() if not self._is_for_nodes(other)
        )

    def _is_for_nodes(self, name: str) -> bool:
        """Whether clients have another listener."""
        listeners = self._cluster.config.listeners
        if name in listeners.controller_names:
            return True
        return name == listeners.inter_broker_listener_name and len(listeners.broker) > 1

    def _close_idlest(self) -> None:
        """Aborts, since a client that does not read would keep a closing connection open."""
        idlest: OpenConnection | None = None
        for each in self._open:
            if each.is_closing or self._is_for_nodes(each.listener):
                continue
            if idlest is None or each.last_active < idlest.last_active:
                idlest = each
        if idlest is not None:
            idlest.abort()
