"""What a node counts of its held records."""

from __future__ import annotations

from ottla.metrics import Metrics
from ottla.metrics.table import delays as table


class DelayMetrics:
    """One per node."""

    def __init__(self, metrics: Metrics) -> None:
        self.released = metrics.counter(table.DELAYED_RELEASED_RECORDS)
        self.cancelled = metrics.counter(table.DELAYED_CANCELLED_RECORDS)
        self.lateness = metrics.histogram(table.DELAYED_LATENESS)
