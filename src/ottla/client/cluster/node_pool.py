"""The connections of a client to the nodes of its cluster, by node and lane.

Before a node's id is known, the addresses of `bootstrap.servers` stand for nodes with the ids -1,
-2 and so on. When metadata shows which node such an address is, the node takes over the connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ottla.channels import ReconnectBackoff
from ottla.client.cluster.metadata import ClusterMetadata
from ottla.client.cluster.node import Lane, NodeConnection
from ottla.client.cluster.seams import ClientSeams
from ottla.client.settings.common import ClusterSettings
from ottla.runtime.network import Address
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.api_versions import ApiVersionsResponse

# How often idle connections are looked for, in parts of their time.
_IDLE_CHECKS: Final = 4
_IDLE_CHECK_SECONDS_MAX: Final = 30.0


class NodePool:
    """Owned by a `ClientCluster`, which closes it. `metadata` returns the latest snapshot."""

    def __init__(
        self,
        settings: ClusterSettings,
        seams: ClientSeams,
        tasks: Tasks,
        metadata: Callable[[], ClusterMetadata],
    ) -> None:
        self._settings = settings
        self._seams = seams
        self._tasks = tasks
        self._metadata = metadata
        self._bootstrap = {-1 - at: address for at, address in enumerate(settings.bootstrap)}
        self._connections: dict[tuple[int, Lane], NodeConnection] = {}
        self._features: dict[str, int] = {}
        self._features_epoch = -1
        self._is_checking = False

    @property
    def features(self) -> dict[str, int]:
        """The cluster's feature levels, such as transaction.version, as far as they are known."""
        return self._features

    def connection(self, node_id: int, lane: Lane) -> NodeConnection:
        found = self._connections.get((node_id, lane))
        if found is None:
            found = self._connections[node_id, lane] = self._made(node_id)
            self._check_idle_later()
        return found

    def existing(self, node_id: int) -> NodeConnection | None:
        """A connection to the node that has been established once, if there is one."""
        for lane in Lane:
            found = self._connections.get((node_id, lane))
            if found is not None and found.versions:
                return found
        return None

    def is_connected(self, node_id: int, lane: Lane) -> bool:
        found = self._connections.get((node_id, lane))
        return found is not None and found.is_connected

    def in_order(self, lane: Lane) -> Iterator[int]:
        """The nodes to try for a request that any node answers: connected ones first, the least
        busy of them, and at the end the bootstrap addresses."""
        known = list(self._metadata().nodes)
        self._seams.dice.shuffle(known)
        connected = [node_id for node_id in known if self.is_connected(node_id, lane)]
        connected.sort(key=lambda node_id: self._connections[node_id, lane].in_flight)
        yield from connected
        for node_id in known:
            if node_id not in connected:
                yield node_id
        if not known or self._settings.rebootstraps:
            bootstrap = list(self._bootstrap)
            self._seams.dice.shuffle(bootstrap)
            yield from sorted(bootstrap, key=lambda each: not self.is_connected(each, lane))

    def adopt_bootstrap(self) -> None:
        """Called with new metadata: nodes take over the connections of bootstrap addresses."""
        for node in self._metadata().nodes.values():
            for key, connection in list(self._connections.items()):
                bootstrap_id, lane = key
                if bootstrap_id < 0 and self._bootstrap[bootstrap_id] == node.address:
                    del self._connections[key]
                    if (node.node_id, lane) in self._connections:
                        connection.close()
                    else:
                        connection.node_id = node.node_id
                        self._connections[node.node_id, lane] = connection

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self._is_checking = True

    def _made(self, node_id: int) -> NodeConnection:
        settings = self._settings
        return NodeConnection(
            self._seams,
            self._tasks,
            self._locate,
            node_id,
            client_id=settings.client_id,
            backoff=ReconnectBackoff(
                settings.reconnect_backoff_ms,
                settings.reconnect_backoff_max_ms,
                settings.connection_setup_timeout_ms,
            ),
            security=settings.security,
            on_greeting=self._greeted,
        )

    def _locate(self, node_id: int) -> Address | None:
        if node_id < 0:
            return self._bootstrap[node_id]
        node = self._metadata().nodes.get(node_id)
        return None if node is None else node.address

    def _greeted(self, response: ApiVersionsResponse) -> None:
        if response.finalized_features_epoch >= self._features_epoch:
            self._features_epoch = response.finalized_features_epoch
            self._features = {
                feature.name: feature.max_version_level for feature in response.finalized_features
            }

    def _check_idle_later(self) -> None:
        idle_ms = self._settings.connections_max_idle_ms
        if self._is_checking or idle_ms < 0:
            return
        self._is_checking = True
        seconds = min(idle_ms / 1_000 / _IDLE_CHECKS, _IDLE_CHECK_SECONDS_MAX)
        self._seams.clock.call_later(seconds, self._check_idle)

    def _check_idle(self) -> None:
        if not self._connections:
            # Begins again with the next connection, unless the pool is closed.
            self._is_checking = self._tasks.is_closed
            return
        oldest = self._seams.clock.monotonic() - self._settings.connections_max_idle_ms / 1_000
        for key, connection in list(self._connections.items()):
            if not connection.in_flight and connection.last_used <= oldest:
                del self._connections[key]
                connection.close()
        self._is_checking = False
        self._check_idle_later()
