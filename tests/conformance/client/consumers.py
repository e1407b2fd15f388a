"""Consumers of ottla.client in tests: made for a broker, and polled until something holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import Any

from ottla.client import ConsumedRecord, Consumer
from ottla.runtime.system_clock import SystemClock
from tests.conformance.clients import TIMEOUT_S

PROTOCOLS = ("classic", "consumer")


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 3 * TIMEOUT_S))


def consumer(bootstrap: str, **properties: Any) -> Consumer:
    """Reads from the beginning, and hears soon of rebalances."""
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "auto.offset.reset": "earliest",
            "heartbeat.interval.ms": 300,
            **{key.replace("_", "."): value for key, value in properties.items()},
        }
    )


async def read(reader: Consumer, count: int) -> list[ConsumedRecord]:
    """At least so many records."""
    found: list[ConsumedRecord] = []
    deadline = perf_counter() + TIMEOUT_S
    while len(found) < count:
        assert perf_counter() < deadline, f"{len(found)} of {count} records"
        found += await reader.poll(0.5)
    return found


async def poll_until(condition: Callable[[], bool], *readers: Consumer) -> list[ConsumedRecord]:
    """All of them poll; returns what they have read."""
    found: list[ConsumedRecord] = []
    deadline = perf_counter() + TIMEOUT_S

    async def keep(reader: Consumer) -> None:
        while not condition():
            assert perf_counter() < deadline, "it did not happen"
            found.extend(await reader.poll(0.05))

    await asyncio.gather(*(keep(reader) for reader in readers))
    return found


async def wait_until(condition: Callable[[], bool]) -> None:
    """While others poll."""
    deadline = perf_counter() + TIMEOUT_S
    while not condition():
        assert perf_counter() < deadline, "it did not happen"
        await SystemClock().sleep(0.02)


def numbers(records: list[ConsumedRecord]) -> list[int]:
    return sorted(int(record.value or b"-1") for record in records)
