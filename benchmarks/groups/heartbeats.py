"""Many small groups that do nothing but live: what their heartbeats cost a server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.figure import Figure
from benchmarks.groups.amount import Amount
from benchmarks.groups.rebalancing import PROTOCOLS
from benchmarks.versus.comparison import Bound, Report, alternate, compared
from benchmarks.versus.servers import Server
from benchmarks.versus.wire_client import create_topics, delete_topic
from ottla.runtime.system_clock import SystemClock
from tests.support.light_members.group import LightGroup

PARTITIONS = 4
MEMBERS = 2
# For a thousand groups.
CPU_PERCENT_MAX = 20.0
GROUPS_MAX = 1_000
_TIMEOUT_S = 120.0
# By then members come at their usual pace.
_SETTLING_S = 8.0
_APART_S = 0.005


@dataclass(frozen=True, slots=True)
class Watched:
    cpu_percent: float
    heartbeats_per_s: float


def figures(servers: Sequence[Server], amount: Amount, report: Report) -> Iterator[Figure]:
    count = amount.idle_groups
    for protocol, title in PROTOCOLS.items():
        samples = alternate(
            servers,
            lambda server, protocol=protocol: _round(server, protocol, amount),  # type: ignore[misc]
            rounds=1,
            what=f"{count:,} groups of {MEMBERS} ({title})",
            report=report,
        )
        yield compared(
            f"{count:,} groups of {MEMBERS} heartbeat ({title})",
            "% CPU",
            samples,
            lambda each: each.cpu_percent,
            Bound(value_max=CPU_PERCENT_MAX * count / GROUPS_MAX),
        )
        yield compared(
            f"{count:,} groups of {MEMBERS}: their heartbeats ({title})",
            "/s",
            samples,
            lambda each: each.heartbeats_per_s,
        )


def _round(server: Server, protocol: str, amount: Amount) -> Watched:
    topic = f"idle-{protocol}"
    create_topics(server.address, [topic], partitions=PARTITIONS)
    try:
        return asyncio.run(_watch(server, topic, protocol, amount))
    finally:
        delete_topic(server.address, topic)


async def _watch(server: Server, topic: str, protocol: str, amount: Amount) -> Watched:
    clock = SystemClock()
    async with contextlib.AsyncExitStack() as stack:
        groups = [
            await stack.enter_async_context(
                LightGroup(
                    server.address,
                    f"{topic}-{number}",
                    topic,
                    protocol=protocol,
                    member_count=MEMBERS,
                    partition_count=PARTITIONS,
                )
            )
            for number in range(amount.idle_groups)
        ]
        # One after the other, so that their heartbeats are spread over time as in life.
        for group in groups:
            group.join()
            await clock.sleep(_APART_S)
        await asyncio.gather(*(group.wait_spread(timeout_s=_TIMEOUT_S) for group in groups))
        await clock.sleep(_SETTLING_S)
        started_s, cpu_s, answers = clock.monotonic(), server.cpu_seconds(), _answers(groups)
        await clock.sleep(amount.idle_s)
        took_s = clock.monotonic() - started_s
        return Watched(
            (server.cpu_seconds() - cpu_s) / took_s * 100, (_answers(groups) - answers) / took_s
        )


def _answers(groups: Sequence[LightGroup]) -> int:
    return sum(member.answer_count for group in groups for member in group.members)
