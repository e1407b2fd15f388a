"""What clients have pushed last, as long as it is current.

The values of a client stay for a while after it has terminated or disconnected, so that its last
push is still scraped. The number of series of all clients together is limited.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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


class PushedValues:
    """A push that is being read, point by point: a client may push as many as fit into a request.
    The growth of a counter is added to what the client has pushed before."""

    def __init__(self, before: Mapping[Key, float], *, series_max: int) -> None:
        self._before = before
        self._series_max = series_max
        self.values: dict[Key, float] = {}
        # Series that were left out.
        self.dropped = 0

    def add(self, point: ReceivedPoint) -> None:
        metric, attributes, value, is_counter, is_delta = point
        key = Key(metric, attributes, is_counter)
        if key not in self.values and len(self.values) >= self._series_max:
            self.dropped += 1
            return
        if is_counter and is_delta:
            value += self._before.get(key, 0.0)
        self.values[key] = value


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

    def values_after(self, client: ClientIdentity) -> PushedValues:
        """For the next push of a client."""
        pushed = self._by_instance.get(client.client_instance_id)
        before: Mapping[Key, float] = {} if pushed is None else pushed.values
        return PushedValues(before, series_max=self._series_max - self._series + len(before))

    def replace(self, client: ClientIdentity, pushed: PushedValues, *, expires_at: float) -> None:
        """Replaces what the client has pushed before."""
        self._forget(client.client_instance_id)
        self.dropped += pushed.dropped
        if pushed.values:
            metrics = PushedMetrics(client, pushed.values, expires_at)
            self._by_instance[client.client_instance_id] = metrics
            self._series += len(pushed.values)

    def expire(self, now: float) -> None:
        for pushed in self:
            if pushed.expires_at < now:
                self._forget(pushed.client.client_instance_id)

    def _forget(self, instance_id: str) -> None:
        pushed = self._by_instance.pop(instance_id, None)
        if pushed is not None:
            self._series -= len(pushed.values)
