"""A node on which groups need not wait: fixtures for the tests of groups, in place of the usual.
And how clients of different kinds are in one group."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from time import perf_counter
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient

from tests.conformance.clients import TIMEOUT_S
from tests.support.nodes.nodes import RunningNode, running_node

SETTINGS = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "4",
}


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("groups"), settings=SETTINGS) as node:
        yield node


@pytest.fixture(scope="module")
def admin(node: RunningNode) -> AdminClient:
    return AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})


async def poll_until(
    condition: Callable[[], bool], librdkafka: Consumer, kafka_python: Any, aiokafka: Any
) -> None:
    """Each of them in its own time: one that waits for the others to join again returns no sooner
    than they have."""
    is_over = False

    async def keep(poll: Callable[[], Awaitable[object]]) -> None:
        while not is_over:
            await poll()

    async def watch() -> None:
        nonlocal is_over
        deadline = perf_counter() + 2 * TIMEOUT_S
        while not is_over:
            is_over = await asyncio.to_thread(condition)
            assert perf_counter() < deadline

    await asyncio.gather(
        watch(),
        keep(lambda: aiokafka.getmany(timeout_ms=100)),
        keep(lambda: asyncio.to_thread(kafka_python.poll, 100)),
        keep(lambda: asyncio.to_thread(librdkafka.poll, 0.1)),
    )


__all__ = ["admin", "node"]
