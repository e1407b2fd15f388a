"""Brokers that were fenced a moment ago, which clients are still shown in Metadata.

Apache Kafka notices a dead broker when its session expires, after nine seconds; here the others
notice it at once, and lead its partitions. librdkafka gives up a broker that is gone from Metadata
and never again looks for the coordinator that it was: `send_offsets_to_transaction` then hangs past
its timeout (its issues 5456 and 5511). It looks for another coordinator every second as long as the
broker is listed, so the broker is listed as long as its session would have lasted.
"""

from __future__ import annotations

from ottla.metadata import MetadataDelta, MetadataImage
from ottla.runtime.clock import Clock


class Departures:
    """Owned by the node's loop. Follows the metadata by `apply`."""

    __slots__ = ("_clock", "_fenced_at", "_seconds")

    def __init__(self, clock: Clock, *, session_timeout_ms: int) -> None:
        self._clock = clock
        self._seconds = session_timeout_ms / 1_000
        self._fenced_at: dict[int, float] = {}

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """`image` has what `delta` changed."""
        for broker_id, before in delta.brokers_changed.items():
            now = image.brokers.get(broker_id)
            if now is None or not now.fenced:
                self._fenced_at.pop(broker_id, None)
            elif before is not None and not before.fenced:
                self._fenced_at[broker_id] = self._clock.monotonic()

    def recent(self) -> frozenset[int]:
        if self._fenced_at:
            oldest = self._clock.monotonic() - self._seconds
            self._fenced_at = {each: at for each, at in self._fenced_at.items() if at > oldest}
        return frozenset(self._fenced_at)
