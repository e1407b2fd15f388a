"""How fast connections may be opened: to a node, to each listener, and from each address.

| limit | a connection beyond it |
|---|---|
| `max.connection.creation.rate` | further ones wait in the operating system's backlog |
| `listener.name.X.max.connection.creation.rate` | in the same way, on that listener |
| quota `connection_creation_rate` of an address | is closed, after as long as it is too early |

As in Kafka, a throttle time is one window at most, and a connection that its address's quota closes
does not count for the node and the listener.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.configs.definition import INT_MAX
from ottla.metadata import MetadataDelta
from ottla.quotas.entities import IP, QuotaKey
from ottla.quotas.meters import RateMeter
from ottla.quotas.sampled_rate import Windows
from ottla.runtime.clock import Clock
from ottla.security.client_host import host_text

_NODE: Final = "node"
_ADDRESSES_MAX: Final = 10_000


class ConnectionRates:
    """Follows the node's configs and the metadata. Owned by the node's loop."""

    def __init__(self, cluster: ClusterView, clock: Clock) -> None:
        config = cluster.config
        self._windows = Windows(
            count=config.quota_window_num, size_seconds=config.quota_window_size_seconds
        )
        self._cluster = cluster
        self._clock = clock
        self._meters: dict[Hashable, RateMeter] = {}
        # By address; None is the default.
        self._of_addresses: dict[str | None, float] = {}
        self._follow()
        cluster.metadata.listen(self._metadata_changed)

    def accepted(self, listener: str, *, is_for_nodes: bool) -> float:
        """Counts a new connection. Returns the seconds until the listener may accept another."""
        config = self._cluster.config
        throttle_ms = 0
        if not is_for_nodes:
            throttle_ms = self._record(_NODE, config.max_connection_creation_rate)
        limit = config.listener_creation_rates.get(listener, INT_MAX)
        return max(throttle_ms, self._record((listener,), limit)) / 1_000

    def admitted(self, listener: str, host: str) -> float:
        """Counts a new connection for its address. Returns 0 if its quota admits it, else the
        seconds after which to close it."""
        if not self._of_addresses:
            return 0
        address = host_text(host)
        limit = self._of_addresses.get(address, self._of_addresses.get(None, INT_MAX))
        throttle_ms = self._record(address, limit)
        if throttle_ms:
            for key in (address, _NODE, (listener,)):
                meter = self._meters.get(key)
                if meter is not None:
                    meter.rate.record(-1, self._now_ms())
        return throttle_ms / 1_000

    def _record(self, key: Hashable, limit: float) -> int:
        if limit >= INT_MAX:
            self._meters.pop(key, None)
            return 0
        meter = self._meters.get(key)
        if meter is None:
            if len(self._meters) >= _ADDRESSES_MAX:
                self._forget_unused()
            meter = self._meters[key] = RateMeter(self._windows, longest_ms=self._windows.size_ms)
        meter.limit = limit
        return meter.record(1, self._now_ms())

    def _forget_unused(self) -> None:
        """Forgets the half of the meters that is unused for longest."""
        by_use = sorted(self._meters, key=lambda key: self._meters[key].used_ms)
        for key in by_use[: _ADDRESSES_MAX // 2]:
            del self._meters[key]

    def _now_ms(self) -> int:
        return int(self._clock.monotonic() * 1_000)

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        if delta.client_quotas_changed:
            self._follow()

    def _follow(self) -> None:
        self._of_addresses = {
            None if name is None else host_text(name): limits[QuotaKey.CONNECTION]
            for entity, limits in self._cluster.image.client_quotas.items()
            for kind, name in entity
            if kind == IP and QuotaKey.CONNECTION in limits
        }
