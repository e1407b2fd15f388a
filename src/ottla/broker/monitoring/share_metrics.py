"""Metrics of the share groups that consume from this node's partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ottla.broker.broker import Broker
from ottla.metrics import Metrics, Sample
from ottla.metrics.table import shares as table

if TYPE_CHECKING:
    from ottla.broker.sharing.sharing import Sharing

_STEP: Final = 200


def measure_sharing(metrics: Metrics, broker: Broker) -> None:
    """Registers the sources. Without a share fetch so far, there is nothing to report."""

    def sharing() -> Sharing | None:
        found: Sharing | None = broker.__dict__.get("sharing")
        return found

    def sessions() -> Iterator[Sample]:
        found = sharing()
        yield (), 0 if found is None else len(found.sessions)

    def session_partitions() -> Iterator[Sample]:
        found = sharing()
        yield (), 0 if found is None else found.sessions.partition_count

    def partitions() -> Iterator[Sample]:
        found = sharing()
        yield (), 0 if found is None else len(found.shared)

    def in_flight() -> Iterator[Sample | None]:
        found = sharing()
        for number, each in enumerate(() if found is None else found.shared.all):
            if each.is_active:
                topic, index = each.partition.name
                yield (each.key.group_id, topic, str(index)), each.machine.in_flight
            if number % _STEP == 0:
                yield None

    # Counted by handlers once there is something to count.
    metrics.counter(table.SHARE_REDRIVEN)
    metrics.measure(table.SHARE_SESSIONS, sessions)
    metrics.measure(table.SHARE_SESSION_PARTITIONS, session_partitions)
    metrics.measure(table.SHARE_PARTITIONS, partitions)
    metrics.measure(table.SHARE_IN_FLIGHT_RECORDS, in_flight)
