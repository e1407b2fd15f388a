"""The metrics of the transactions that a node coordinates."""

from __future__ import annotations

from ottla.metrics import Metrics
from ottla.metrics.table import coordinators as table


class TransactionMetrics:
    """Shared by all partitions of a node."""

    def __init__(self, metrics: Metrics) -> None:
        self.committed = metrics.counter(table.TRANSACTIONS_ENDED, "committed")
        self.aborted = metrics.counter(table.TRANSACTIONS_ENDED, "aborted")
        self.timed_out = metrics.counter(table.TRANSACTIONS_TIMED_OUT)
