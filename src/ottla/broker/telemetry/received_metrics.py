"""What clients have pushed last, as long as it is current.

The values of a client stay for a while after it has terminated or disconnected, so that its last
push is still scraped. The number of series of all clients together is limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ottla.broker.telemetry.client_instances import ClientIdentity
from ottla.metrics.otlp.decoding import Attributes, ReceivedPoint


class Key(NamedTuple):
    metric: str
    attributes: Attributes
    is_counter: bool


class PushedMetrics(NamedTuple):
    """Of one client instance."""

    client: ClientIdentity
    values: dict[Key, float]
    expires_at: float


class ReceivedMetrics:
    """Of all clients of a node. Times are monotonic seconds."""

    def __init__(self, *, series_max: int) -> None:
        self._series_max = series_max
        self._by_instance: dict[str, PushedMetrics] = {}
        self._series = 0
        # Series that were left out.
        self.dropped = 0

    def __len__(self) -> int:
        return self._series

    def __iter__(self) -> Iterator[PushedMetrics]:
        """A copy: clients push while the values are read."""
        return iter(list(self._by_instance.values()))

    def replace(
        self, client: ClientIdentity, points: Iterable[ReceivedPoint], *, expires_at: float
    ) -> None:
        """Replaces what the client has pushed before. The growth of a counter is added to it."""
        before = self._take(client.client_instance_id)
        values: dict[Key, float] = {}
        for metric, attributes, value, is_counter, is_delta in points:
            key = Key(metric, attributes, is_counter)
            if key not in values and self._series + len(values) >= self._series_max:
                self.dropped += 1
                continue
            values[key] = value + before.get(key, 0.0) if is_counter and is_delta else value
        if values:
            pushed = PushedMetrics(client, values, expires_at)
            self._by_instance[client.client_instance_id] = pushed
            self._series += len(values)

    def expire(self, now: float) -> None:
        for pushed in self:
            if pushed.expires_at < now:
                self._take(pushed.client.client_instance_id)

    def _take(self, instance_id: str) -> dict[Key, float]:
        pushed = self._by_instance.pop(instance_id, None)
        if pushed is None:
            return {}
        self._series -= len(pushed.values)
        return pushed.values
