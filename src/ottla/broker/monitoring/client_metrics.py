"""Metrics that clients have pushed (KIP-714): for scrapes in two families, for a collector as they
came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ottla.broker.broker import Broker
from ottla.broker.telemetry.received_metrics import Key, PushedMetrics
from ottla.metrics import Metrics, Sample
from ottla.metrics.otlp import RelayedPoint
from ottla.metrics.table import client_telemetry as table

# Attributes of Kafka's clients that are labels of their own.
_LABELS: Final = ("topic", "partition", "node_id")
_STEP: Final = 100
_SPECIAL: Final = re.compile(r"[\\,=]")


class ClientMetrics:
    """Registers its sources when it is made."""

    def __init__(self, metrics: Metrics, broker: Broker) -> None:
        self._telemetry = telemetry = broker.client_telemetry
        metrics.measure(table.CLIENT_INSTANCES, lambda: [((), telemetry.clients)])
        metrics.measure(table.SERIES_DROPPED, lambda: [((), telemetry.received.dropped)])
        metrics.measure(table.CLIENT_VALUES, lambda: self._samples(is_counter=False))
        metrics.measure(table.CLIENT_TOTALS, lambda: self._samples(is_counter=True))

    def _samples(self, *, is_counter: bool) -> Iterator[Sample | None]:
        self._telemetry.expire()
        for pushed in self._telemetry.received:
            for count, (key, value) in enumerate(pushed.values.items(), start=1):
                if key.is_counter is is_counter:
                    yield _labels_of(pushed, key), value
                if count % _STEP == 0:
                    yield None

    def relayed(self) -> Iterator[tuple[dict[str, str], Iterable[RelayedPoint]]]:
        """As the clients have pushed them."""
        self._telemetry.expire()
        for pushed in self._telemetry.received:
            yield (
                pushed.client._asdict(),
                (
                    RelayedPoint(key.metric, key.attributes, value, key.is_counter)
                    for key, value in pushed.values.items()
                ),
            )


def _labels_of(pushed: PushedMetrics, key: Key) -> tuple[str, ...]:
    client = pushed.client
    attributes = dict(key.attributes)
    own = [attributes.pop(name, "") for name in _LABELS]
    rest = ",".join(f"{_escaped(name)}={_escaped(value)}" for name, value in attributes.items())
    return (
        client.client_id,
        client.client_instance_id,
        client.client_software_name,
        key.metric,
        *own,
        rest,
    )


def _escaped(text: str) -> str:
    """Different attributes must not have the same text."""
    return _SPECIAL.sub(r"\\\g<0>", text)
