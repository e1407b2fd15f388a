"""The whole comparison of transactions in its order: producing, committing, consuming."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figure import Figure
from benchmarks.transactions import committing, consuming, producing
from benchmarks.transactions.amount import FULL, QUICK
from benchmarks.transactions.coordinated import wait_coordinated
from benchmarks.versus.clients import loading_client
from benchmarks.versus.comparison import Report, available, started, unbound
from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, fresh


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is called with what this machine lacks."""
    amount = QUICK if quick else FULL
    kinds: list[type[Server]] = available(OttlaServer, KafkaServer, note)
    client, is_bounded = loading_client(note)
    with started(map(fresh, kinds), report) as servers:
        for server in servers:
            wait_coordinated(server)
        producing.warm_up(servers, client, amount, report)
        parts = [producing.figures, committing.figures]
        if is_bounded:
            # The light consumer is made of C as well.
            parts.append(consuming.figures)
        for part in parts:
            for figure in part(servers, client, amount, report):
                yield figure if is_bounded else unbound(figure)
