"""From publishing to consuming at a steady rate, each message taken by itself as it comes."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from benchmarks.figure import Figure
from benchmarks.versus.clients import Percentiles, ProgramClient
from benchmarks.versus.comparison import NO_BOUND, Bench, Bound, alternate, compared
from benchmarks.versus.servers import Server
from benchmarks.versus.topics import PARTITIONS, topic

RATES = (1_000, 5_000)
BOUNDS = {("p99", 5_000): Bound(ratio_max=0.5)}


def figures(bench: Bench, client: ProgramClient) -> Iterator[Figure]:
    for rate in RATES:
        yield from _figures_at(rate, bench, client)


def _figures_at(rate: int, bench: Bench, client: ProgramClient) -> Iterator[Figure]:
    what = f"latency at {rate:,} msg/s"
    samples = alternate(
        bench.servers,
        lambda server: _round(bench, server, client, rate),
        rounds=bench.scale.latency_rounds,
        what=f"{what} ({client.name})",
        report=bench.report,
    )
    for percentile in ("p50", "p99", "p999"):
        yield compared(
            f"{what}, {percentile} ({client.name})",
            "ms",
            samples,
            attrgetter(f"{percentile}_ms"),
            BOUNDS.get((percentile, rate), NO_BOUND),
        )


def _round(bench: Bench, server: Server, client: ProgramClient, rate: int) -> Percentiles:
    with topic(server) as name:
        return client.latency(
            server.address,
            name,
            partitions=PARTITIONS,
            rate=rate,
            count=rate * bench.scale.latency_s,
        )
