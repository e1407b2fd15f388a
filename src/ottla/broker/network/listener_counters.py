"""What is counted of the connections of a listener."""

from __future__ import annotations

from typing import NamedTuple

from ottla.metrics import Counter, Metrics
from ottla.metrics.table import requests as table


class ListenerCounters(NamedTuple):
    """Shared by the connections of one listener. Their requests are counted and timed only if
    the node serves its metrics, because that costs a few microseconds for each."""

    accepted: Counter
    closed: Counter
    refused: Counter
    rejected_requests: Counter
    received_bytes: Counter
    sent_bytes: Counter
    measures_requests: bool

    @classmethod
    def of(cls, metrics: Metrics, listener: str, *, measures_requests: bool) -> ListenerCounters:
        return cls(
            metrics.counter(table.CONNECTIONS_ACCEPTED, listener),
            metrics.counter(table.CONNECTIONS_CLOSED, listener),
            metrics.counter(table.CONNECTIONS_REFUSED, listener),
            metrics.counter(table.REQUESTS_REJECTED, listener),
            metrics.counter(table.NETWORK_RECEIVED_BYTES, listener),
            metrics.counter(table.NETWORK_SENT_BYTES, listener),
            measures_requests,
        )
