"""The whole comparison of groups in its order: consuming, rebalancing, heartbeats, loading."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from benchmarks.figure import Figure
from benchmarks.groups import consuming, forming, heartbeats, loading, rebalancing
from benchmarks.groups.amount import FULL, QUICK
from benchmarks.versus.clients import loading_client
from benchmarks.versus.comparison import Report, unbound
from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, fresh
from tests.conformance.kafka.process import reason_unavailable


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is told what this machine lacks."""
    amount = QUICK if quick else FULL
    reason = reason_unavailable()
    kinds: list[type[Server]] = [OttlaServer]
    if reason is None:
        kinds.append(KafkaServer)
    else:
        note(f"Ottla alone, without Apache Kafka beside it: {reason}")
    client, is_bounded = loading_client(note)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(fresh(kind)) for kind in kinds]
        for server in servers:
            report(f"starting {server.name}")
            server.start()
        for figure in consuming.figures(servers, client, amount, report):
            yield figure if is_bounded else unbound(figure)
        yield from rebalancing.figures(servers, amount, report)
        yield from forming.figures(servers, amount, report)
        yield from heartbeats.figures(servers, amount, report)
    yield from loading.figures(is_with_kafka=reason is None, amount=amount, report=report)
