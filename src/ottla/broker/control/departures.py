"""Recently fenced brokers, which Metadata responses still list.

Apache Kafka notices a dead broker when its session expires, after nine seconds. Ottla notices the
lost connection and moves leadership at once. If the dead broker was a group or transaction
coordinator and disappears from Metadata, librdkafka never looks up the new coordinator, and
`send_offsets_to_transaction` hangs past its timeout (librdkafka issues 5456 and 5511). While the
broker is listed, librdkafka looks up the coordinator every second. So a fenced broker stays listed
for the duration of its session timeout.
"""

from __future__ import annotations

from ottla.metadata import MetadataDelta, MetadataImage
from ottla.runtime.clock import Clock


class Departures:
    """Owned by the node's loop, which calls `apply` for each metadata delta."""

    __slots__ = ("_clock", "_fenced_at", "_seconds")

    def __init__(self, clock: Clock, *, session_timeout_ms: int) -> None:
        self._clock = clock
        self._seconds = session_timeout_ms / 1_000
        self._fenced_at: dict[int, float] = {}

    def apply(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Records which brokers `delta` fenced. `image` already includes `delta`."""
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
