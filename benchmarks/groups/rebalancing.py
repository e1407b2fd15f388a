"""How long a group of ten of librdkafka's consumers takes to be whole again, at default settings.

From the close of a member, or the subscription of a new one, until every partition has an owner and
all have as many.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer

from benchmarks.figure import Figure
from benchmarks.groups.amount import Amount
from benchmarks.versus.comparison import Report, alternate, compared
from benchmarks.versus.servers import Server
from benchmarks.versus.wire_client import create_topics, delete_topic

MEMBERS = 10
PARTITIONS = 90
PROTOCOLS = {"consumer": "the new protocol", "classic": "classic, cooperative"}
_TIMEOUT_S = 120.0
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Rebalanced:
    formed_s: float
    left_s: float
    joined_s: float


def figures(servers: Sequence[Server], amount: Amount, report: Report) -> Iterator[Figure]:
    for protocol, title in PROTOCOLS.items():
        samples = alternate(
            servers,
            lambda server, protocol=protocol: _round(server, protocol),  # type: ignore[misc]
            rounds=amount.rounds,
            what=f"rebalance of {MEMBERS} members ({title})",
            report=report,
        )
        for name, value in (
            ("forms", lambda each: each.formed_s),
            ("is whole without one that left", lambda each: each.left_s),
            ("is whole with one that joined", lambda each: each.joined_s),
        ):
            yield compared(f"a group of {MEMBERS} {name} ({title})", "s", samples, value)


def _round(server: Server, protocol: str) -> Rebalanced:
    topic = f"rebalanced-{next(_numbers)}"
    create_topics(server.address, [topic], partitions=PARTITIONS)
    with contextlib.ExitStack() as stack:
        stack.callback(delete_topic, server.address, topic)
        members = []

        def join() -> None:
            member = _member(server, topic, protocol)
            stack.callback(member.close)
            members.append(member)

        started = time.perf_counter()
        for _ in range(MEMBERS):
            join()
        formed_s = _wait_spread(members, started)
        started = time.perf_counter()
        members.pop().close()
        left_s = _wait_spread(members, started)
        started = time.perf_counter()
        join()
        return Rebalanced(formed_s, left_s, _wait_spread(members, started))


def _member(server: Server, topic: str, protocol: str) -> Consumer:
    configs = {
        "bootstrap.servers": server.address,
        "group.id": topic,
        "group.protocol": protocol,
        "enable.auto.commit": False,
        "log_level": 0,
    }
    if protocol == "classic":
        configs["partition.assignment.strategy"] = "cooperative-sticky"
    member = Consumer(configs)
    member.subscribe([topic])
    return member


def _wait_spread(members: Sequence[Consumer], started: float) -> float:
    """Lets all of them go on until it is so, and returns the seconds since the start."""
    while time.perf_counter() < started + _TIMEOUT_S:
        for member in members:
            member.poll(0.002)
        counts = [len(member.assignment()) for member in members]
        if sum(counts) == PARTITIONS and max(counts) - min(counts) <= 1:
            return time.perf_counter() - started
    raise TimeoutError(
        f"the group is not balanced after {_TIMEOUT_S:g} s; partitions of members: {counts}"
    )
