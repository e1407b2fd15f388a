"""The metrics of the transactions that a node coordinates."""

from __future__ import annotations

from ottla.runtime.metrics import Metrics


class TransactionMetrics:
    """Shared by all partitions of a node. The age of the oldest transaction is set periodically,
    the others when transactions change."""

    def __init__(self, metrics: Metrics) -> None:
        self.open = metrics.gauge("TransactionsOpen")
        self.oldest_open_ms = metrics.gauge("TransactionsOldestOpenMs")
        self.committed = metrics.counter("TransactionsCommitted")
        self.aborted = metrics.counter("TransactionsAborted")
        self.timed_out = metrics.counter("TransactionsTimedOut")
