"""How long a start takes, over nothing and over thousands of topics, and what idling costs then."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.figure import Figure
from benchmarks.versus.comparison import NO_BOUND, Bound, Report, alternate, compared
from benchmarks.versus.scale import Scale
from benchmarks.versus.servers import START_TIMEOUT_S, Server, fresh
from benchmarks.versus.wire_client import create_topics, wait_led

PARTITIONS = 5
TOPICS_PER_REQUEST = 100
TOPICS_OF_BOUNDS = 2_000
# What a start leaves to be done, a virtual machine's compiling above all, is not idling.
SETTLE_S = 5.0


@dataclass(frozen=True, slots=True)
class Restart:
    creation_s: float
    seconds: float
    idle_percent: float
    resident_megabytes: float


def start_figures(kinds: Sequence[type[Server]], scale: Scale, report: Report) -> Iterator[Figure]:
    samples = alternate(kinds, _start, rounds=scale.starts, what="start", report=report)
    yield compared(
        "start to first Metadata", "s", samples, lambda seconds: seconds, Bound(ratio_max=0.1)
    )


def restart_figures(
    kinds: Sequence[type[Server]], scale: Scale, report: Report
) -> Iterator[Figure]:
    of_topics = f"{scale.topics:,} topics x {PARTITIONS}"
    samples = alternate(
        kinds, lambda kind: _restart(kind, scale), rounds=1, what=of_topics, report=report
    )
    is_bound = scale.topics >= TOPICS_OF_BOUNDS
    yield compared(f"create {of_topics}", "s", samples, lambda sample: sample.creation_s)
    yield compared(
        f"clean restart, {of_topics}, all led",
        "s",
        samples,
        lambda sample: sample.seconds,
        Bound(value_max=5) if is_bound else NO_BOUND,
    )
    yield compared(
        f"idle, {of_topics}",
        "% CPU",
        samples,
        lambda sample: sample.idle_percent,
        Bound(value_max=2) if is_bound else NO_BOUND,
    )
    yield compared(
        f"resident memory, {of_topics}", "MB", samples, lambda sample: sample.resident_megabytes
    )


def _start(kind: type[Server]) -> float:
    with fresh(kind) as server:
        return server.start()


def _restart(kind: type[Server], scale: Scale) -> Restart:
    names = [f"topic-{number}" for number in range(scale.topics)]
    with fresh(kind) as server:
        server.start()
        started = time.perf_counter()
        for first in range(0, len(names), TOPICS_PER_REQUEST):
            some = names[first : first + TOPICS_PER_REQUEST]
            create_topics(server.address, some, partitions=PARTITIONS)
        creation_s = time.perf_counter() - started
        server.stop()
        started = time.perf_counter()
        server.start()
        wait_led(server.address, names, timeout_s=START_TIMEOUT_S)
        seconds = time.perf_counter() - started
        time.sleep(SETTLE_S)
        before_s = server.cpu_seconds()
        time.sleep(scale.idle_s)
        idle_percent = (server.cpu_seconds() - before_s) / scale.idle_s * 100
        return Restart(creation_s, seconds, idle_percent, server.resident_bytes() / 1e6)
