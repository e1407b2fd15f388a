"""How many connections a node takes: in all (`max.connections`) and from one host.

As with Kafka, a host that has `max.connections.per.ip` connections gets no further one: it is
closed at once. A node that has `max.connections` lets new ones wait with the operating system until
another one ends. It never takes more than it has descriptors for.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ottla.runtime.network import Listener

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


class ConnectionLimits:
    """Follows the broker's configs, dynamic ones included. Owned by the node's loop."""

    def __init__(self, broker: Broker, *, connections_max: int) -> None:
        self._broker = broker
        self._connections_max = connections_max
        self._connections = 0
        self._of_hosts: Counter[str] = Counter()
        self._listeners: list[Listener] = []
        self._is_accepting = True

    def open(self, listener: Listener) -> None:
        """Lets a paused listener accept, now or as soon as there is room."""
        self._listeners.append(listener)
        if self._is_accepting:
            listener.resume_accepting()

    def accepted(self) -> None:
        """A connection is there, whoever it is from."""
        self._connections += 1
        self.accept_or_not()

    def admits(self, host: str) -> bool:
        """Whether a connection that was accepted may stay, now that its host is known."""
        self._of_hosts[host] += 1
        config = self._broker.config
        limit = config.max_connections_per_ip_overrides.get(host, config.max_connections_per_ip)
        return self._of_hosts[host] <= limit

    def ended(self, host: str) -> None:
        """A connection is gone, whether it was admitted or not."""
        self._connections -= 1
        self._of_hosts[host] -= 1
        if not self._of_hosts[host]:
            del self._of_hosts[host]
        self.accept_or_not()

    def accept_or_not(self) -> None:
        """To be called when a limit may have changed."""
        limit = min(self._broker.config.max_connections, self._connections_max)
        should_accept = self._connections < limit
        if should_accept == self._is_accepting:
            return
        self._is_accepting = should_accept
        for listener in self._listeners:
            if should_accept:
                listener.resume_accepting()
            else:
                listener.pause_accepting()
