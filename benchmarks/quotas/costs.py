"""What quotas cost a client that has none: a node without any, beside one with quotas of others.

Both nodes run all the time and are loaded in turns, as in benchmarks/counting.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Final

from benchmarks.counting import TOPIC, load
from benchmarks.figure import Figure
from benchmarks.quotas.greedy_client import set_quotas
from benchmarks.versus.servers import OttlaServer, fresh
from benchmarks.versus.wire_client import create_topics

_COST_US_MAX: Final = 1.0
_QUOTAS: Final = {
    "producer_byte_rate": 1e9,
    "consumer_byte_rate": 1e9,
    "request_percentage": 1_000.0,
}


def run(*, quick: bool, report: Callable[[str], None]) -> Iterator[Figure]:
    rounds, requests = (7, 5_000) if quick else (21, 30_000)
    with fresh(OttlaServer) as without, fresh(OttlaServer) as with_:
        for server in (without, with_):
            server.start()
            create_topics(server.address, [TOPIC], partitions=1)
        set_quotas(with_.address, "another", _QUOTAS)
        for server in (without, with_):
            load(server, requests)
        found: dict[str, list[tuple[float, float]]] = {"without": [], "with": []}
        for number in range(rounds):
            report(f"quotas: costs, round {number + 1} of {rounds}")
            found["without"].append(load(without, requests))
            found["with"].append(load(with_, requests))
    cost = median(
        after - before
        for (after, _), (before, _) in zip(found["with"], found["without"], strict=True)
    )
    yield Figure(
        "quotas of others: processor time of a produce request of one record",
        cost,
        "us",
        bound=f"<= {_COST_US_MAX:.0f}",
        holds=cost <= _COST_US_MAX,
    )
    rates = {name: median(rate for _, rate in each) for name, each in found.items()}
    yield Figure(
        "the same over one connection (against: without quotas)",
        rates["with"],
        "requests/s",
        rates["without"],
    )
