"""A group of a hundred members over a thousand partitions, at default settings: how soon it forms,
and how it goes on without one of them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.figure import Figure
from benchmarks.groups.amount import Amount
from benchmarks.groups.rebalancing import PROTOCOLS
from benchmarks.versus.comparison import Bound, Report, alternate, compared
from benchmarks.versus.servers import Server
from benchmarks.versus.wire_client import create_topics, delete_topic
from tests.support.light_members.group import LightGroup

MEMBERS = 100
PARTITIONS = 1_000
FORMED_S_MAX = 5.0
_TIMEOUT_S = 120.0
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Formed:
    formed_s: float
    left_s: float
    # What members had to let go of because another one left.
    taken_count: int


def figures(servers: Sequence[Server], amount: Amount, report: Report) -> Iterator[Figure]:
    group = f"{MEMBERS} members, {PARTITIONS:,} partitions"
    for protocol, title in PROTOCOLS.items():
        samples = alternate(
            servers,
            lambda server, protocol=protocol: _round(server, protocol),  # type: ignore[misc]
            rounds=amount.rounds,
            what=f"{group} ({title})",
            report=report,
        )
        yield compared(
            f"{group} form ({title})",
            "s",
            samples,
            lambda each: each.formed_s,
            Bound(value_max=FORMED_S_MAX),
        )
        yield compared(
            f"{group} are whole without one ({title})", "s", samples, lambda each: each.left_s
        )
        yield compared(
            f"{group}: taken from others meanwhile ({title})",
            "partitions",
            samples,
            lambda each: each.taken_count,
            Bound(value_max=1),
            of_rounds=max,
        )


def _round(server: Server, protocol: str) -> Formed:
    topic = f"formed-{next(_numbers)}"
    create_topics(server.address, [topic], partitions=PARTITIONS)
    try:
        return asyncio.run(_form(server.address, topic, protocol))
    finally:
        delete_topic(server.address, topic)


async def _form(address: str, topic: str, protocol: str) -> Formed:
    async with LightGroup(
        address,
        topic,
        topic,
        protocol=protocol,
        member_count=MEMBERS,
        partition_count=PARTITIONS,
    ) as group:
        group.join()
        formed_s = await group.wait_spread(timeout_s=_TIMEOUT_S)
        before = sum(member.taken_count for member in group.members)
        leaving = group.members[MEMBERS // 2]
        before -= leaving.taken_count
        await group.lose(leaving)
        left_s = await group.wait_spread(timeout_s=_TIMEOUT_S)
        taken_count = sum(member.taken_count for member in group.members) - before
        return Formed(formed_s, left_s, taken_count)
