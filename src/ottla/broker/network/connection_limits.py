"""How many connections a node takes: in all (`max.connections`) and from one host.

As with Kafka, a host that has `max.connections.per.ip` connections gets no further one: it is
closed at once. A node that has `max.connections` lets new ones wait with the operating system until
another one ends. It never takes more than it has descriptors for.
"""

from __future__ import annotations

from collections import Counter

from ottla.broker.control.cluster_view import ClusterView
from ottla.runtime.network import Listener


class ConnectionLimits:
    """Follows the broker's configs, dynamic ones included. Owned by the node's loop."""

    def __init__(self, cluster: ClusterView, *, connections_max: int) -> None:
        self._cluster = cluster
        self._connections_max = connections_max
        self._connections = 0
        self._of_hosts: Counter[str] = Counter()
        self._listeners: list[Listener] = []
        self._is_accepting = True
        cluster.listen(self.accept_or_not)

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
        config = self._cluster.config
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
        limit = min(self._cluster.config.max_connections, self._connections_max)
        should_accept = self._connections < limit
        if should_accept == self._is_accepting:
            return
        self._is_accepting = should_accept
        for listener in self._listeners:
            if should_accept:
                listener.resume_accepting()
            else:
                listener.pause_accepting()
