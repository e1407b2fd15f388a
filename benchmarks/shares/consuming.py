"""Records through share groups of 1, 4 and 32 members, and the time of an acknowledgement."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.figure import Figure
from benchmarks.shares.amount import ShareAmount
from benchmarks.shares.light_sharer import LightSharer, join_all
from benchmarks.versus.comparison import Bound, Report, Samples, alternate, compared
from benchmarks.versus.servers import Server
from benchmarks.versus.wire_client import create_topics
from ottla.client import Admin, Producer
from ottla.client.administration import ConfigResource, ConfigResourceType

TOPIC: Final = "shared"
PARTITIONS: Final = 4
VALUE: Final = bytes(1_000)
MEMBERS: Final = (1, 4, 32)
_RATIO_MIN: Final = 1.5
_LATENCY_RATIO_MAX: Final = 0.5
_TIMEOUT_S: Final = 60.0
_groups = itertools.count()


def figures(servers: Sequence[Server], amount: ShareAmount, report: Report) -> Iterator[Figure]:
    for server in servers:
        report(f"filling {server.name}")
        asyncio.run(_fill(server.address, amount.records))
    for members in MEMBERS:
        samples: Samples[float] = alternate(
            servers,
            lambda server, members=members: asyncio.run(  # type: ignore[misc]
                asyncio.wait_for(_throughput(server.address, members, amount), _TIMEOUT_S)
            ),
            rounds=amount.rounds,
            what=f"a share group of {members}",
            report=report,
        )
        yield compared(
            f"share group, {members} consumer{'s' if members > 1 else ''}",
            "records/s",
            samples,
            float,
            Bound(ratio_min=_RATIO_MIN),
        )
    latencies: Samples[list[float]] = alternate(
        servers,
        lambda server: asyncio.run(
            asyncio.wait_for(_latencies(server.address, amount), _TIMEOUT_S)
        ),
        rounds=amount.rounds,
        what="acknowledgements one by one",
        report=report,
    )
    for percent in (50, 99):
        bound = Bound(ratio_max=_LATENCY_RATIO_MAX) if percent == 99 else Bound()
        yield compared(
            f"acknowledgement, p{percent}",
            "ms",
            latencies,
            lambda found, percent=percent: found[len(found) * percent // 100] * 1_000,  # type: ignore[misc]
            bound,
        )


async def _fill(address: str, records: int) -> None:
    create_topics(address, [TOPIC], partitions=PARTITIONS)
    async with Producer(bootstrap_servers=address, linger_ms=5, batch_size=64_000) as producer:
        for number in range(records):
            await producer.send(TOPIC, VALUE, partition=number % PARTITIONS)
        await producer.flush()


async def _new_group(address: str) -> str:
    """A group that begins at the first record."""
    group = f"sharing-{next(_groups)}"
    resource = ConfigResource(ConfigResourceType.GROUP, group)
    async with Admin(bootstrap_servers=address) as admin:
        configs = {"share.auto.offset.reset": "earliest"}
        (await admin.alter_configs({resource: configs})).all()
    return group


async def _throughput(address: str, members: int, amount: ShareAmount) -> float:
    """Records per second, from the first fetch until the last acknowledgement."""
    group = await _new_group(address)
    sharers = [LightSharer(group, TOPIC) for _ in range(members)]
    left = amount.records

    def take(count: int) -> bool:
        nonlocal left
        left -= count
        return left > 0

    try:
        await join_all(sharers, address)
        started = time.perf_counter()
        await asyncio.gather(*(sharer.consume(take) for sharer in sharers))
        return amount.records / (max(each.acknowledged_at for each in sharers) - started)
    finally:
        for sharer in sharers:
            sharer.close()


async def _latencies(address: str, amount: ShareAmount) -> list[float]:
    """The times of acknowledgements of single records, sorted."""
    sharer = LightSharer(await _new_group(address), TOPIC)
    try:
        await join_all([sharer], address)
        found: list[float] = []
        while len(found) < amount.acknowledgements:
            seconds = await sharer.acknowledgement_seconds()
            if seconds is not None:
                found.append(seconds)
        return sorted(found)
    finally:
        sharer.close()
