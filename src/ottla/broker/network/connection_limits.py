"""Connection limits of a node: in total (`max.connections`) and per client host.

As in Kafka, a connection beyond `max.connections.per.ip` is accepted and closed at once. At
`max.connections` the node stops accepting, so new connections wait in the operating system's
backlog until another one closes. The total is also limited by the available file descriptors.
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
        """Resumes accepting on a paused listener, now or once the node is below its limit."""
        self._listeners.append(listener)
        if self._is_accepting:
            listener.resume_accepting()

    def accepted(self) -> None:
        """Counts a new connection, before its host is known."""
        self._connections += 1
        self.accept_or_not()

    def admits(self, host: str) -> bool:
        """Counts the connection for its host. Returns whether the host is within its limit."""
        self._of_hosts[host] += 1
        config = self._cluster.config
        limit = config.max_connections_per_ip_overrides.get(host, config.max_connections_per_ip)
        return self._of_hosts[host] <= limit

    def ended(self, host: str) -> None:
        """Uncounts a closed connection, admitted or not."""
        self._connections -= 1
        self._of_hosts[host] -= 1
        if not self._of_hosts[host]:
            del self._of_hosts[host]
        self.accept_or_not()

    def accept_or_not(self) -> None:
        """Pauses or resumes the listeners. Called when the count or a limit changed."""
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
