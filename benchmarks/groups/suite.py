"""The whole comparison of groups in its order: consuming, rebalancing, heartbeats, loading."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figure import Figure
from benchmarks.groups import consuming, forming, heartbeats, loading, rebalancing
from benchmarks.groups.amount import FULL, QUICK
from benchmarks.versus.clients import loading_client
from benchmarks.versus.comparison import Report, available, started, unbound
from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, fresh


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is called with what this machine lacks."""
    amount = QUICK if quick else FULL
    kinds: list[type[Server]] = available(OttlaServer, KafkaServer, note)
    client, is_bounded = loading_client(note)
    with started(map(fresh, kinds), report) as servers:
        for figure in consuming.figures(servers, client, amount, report):
            yield figure if is_bounded else unbound(figure)
        yield from rebalancing.figures(servers, amount, report)
        yield from forming.figures(servers, amount, report)
        yield from heartbeats.figures(servers, amount, report)
    yield from loading.figures(kinds, amount, report)
