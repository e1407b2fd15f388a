"""Share groups: throughput, the time of an acknowledgement, and the memory of locked records."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figure import Figure
from benchmarks.shares import consuming, memory
from benchmarks.shares.amount import FULL, QUICK
from benchmarks.versus.comparison import Report, available, started
from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, fresh


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is called with what this machine lacks."""
    kinds: list[type[Server]] = available(OttlaServer, KafkaServer, note)
    with started(map(fresh, kinds), report) as servers:
        yield from consuming.figures(servers, QUICK if quick else FULL, report)
    report("measuring the memory of locked records")
    yield from memory.figures()
