"""The whole comparison in its order: starts, loads on both running servers, thousands of topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.figure import Figure
from benchmarks.versus import consume, latency, produce, starts
from benchmarks.versus.clients import (
    JavaClient,
    ProgramClient,
    loading_client,
    python_client,
)
from benchmarks.versus.comparison import (
    Bench,
    Bound,
    Report,
    alternate,
    available,
    compared,
    started,
    unbound,
)
from benchmarks.versus.scale import FULL, QUICK
from benchmarks.versus.servers import KafkaServer, OttlaServer, Server, fresh
from tests.conformance.kafka.process import reason_unavailable


def run(*, quick: bool, report: Report, note: Callable[[str], None]) -> Iterator[Figure]:
    """Measures figure by figure; `note` is called with what this machine lacks."""
    scale = QUICK if quick else FULL
    kinds: list[type[Server]] = available(OttlaServer, KafkaServer, note)
    yield from starts.start_figures(kinds, scale, report)
    with started(map(fresh, kinds), report) as servers:
        bench = Bench(servers, scale, report)
        client, bounded = loading_client(note)
        for figure in _loads(bench, client):
            yield figure if bounded else unbound(figure)
        if scale.other_clients is not None:
            others = Bench(servers, scale.other_clients, report)
            yield from map(unbound, _other_clients(others, client))
    yield from starts.restart_figures(kinds, scale, report)


def _loads(bench: Bench, client: ProgramClient) -> Iterator[Figure]:
    produce.warm_up(bench, client)
    yield from produce.figures(bench, client)
    with consume.filled(bench, client) as filled:
        yield from filled.figures(client)
    yield from latency.figures(bench, client)
    yield _memory(bench)


def _memory(bench: Bench) -> Figure:
    samples = alternate(
        bench.servers,
        lambda server: server.resident_bytes() / 1e6,
        rounds=1,
        what="memory",
        report=bench.report,
    )
    return compared(
        "resident memory after these loads", "MB", samples, lambda size: size, Bound(ratio_max=0.1)
    )


def _other_clients(bench: Bench, filler: ProgramClient) -> Iterator[Figure]:
    python, java = python_client(), JavaClient()
    if filler != python:
        yield from produce.figures_of_one_kilobyte(bench, python)
        with consume.filled(bench, filler) as filled:
            yield from filled.figures(python)
        yield from latency.figures(bench, python)
    if reason_unavailable() is None:
        yield from produce.figures_of_one_kilobyte(bench, java)
        with consume.filled(bench, filler) as filled:
            yield from filled.figures(java)
