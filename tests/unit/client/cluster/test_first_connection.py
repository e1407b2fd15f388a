"""Nodes that hang, and others that answer."""

from __future__ import annotations

import asyncio

from ottla.channels import ChannelError
from ottla.client.cluster.first_connection import STAGGER_SECONDS, connect_first
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.tasks import Tasks

HANGS, FAILS, ANSWERS = range(3)


def started(*nodes: int) -> tuple[list[int], float]:
    """The nodes to which connections were begun, and how long it took."""
    begun: list[int] = []

    async def connect(node_id: int) -> None:
        begun.append(node_id)
        if nodes[node_id] == HANGS:
            await asyncio.Event().wait()
        if nodes[node_id] == FAILS:
            raise ChannelError("refused")

    async def run() -> float:
        clock = SystemClock()
        tasks = Tasks(lambda _name, error: print(error))
        start = clock.monotonic()
        await connect_first(clock, tasks, range(len(nodes)), connect)
        seconds = clock.monotonic() - start
        await tasks.close()
        return seconds

    return begun, asyncio.run(asyncio.wait_for(run(), 20))


def test_a_node_that_answers_is_the_only_one() -> None:
    assert started(ANSWERS, ANSWERS)[0] == [0]


def test_after_a_node_that_refuses_the_next_one_follows_at_once() -> None:
    begun, seconds = started(FAILS, FAILS, ANSWERS, ANSWERS)
    assert begun == [0, 1, 2]
    assert seconds < STAGGER_SECONDS


def test_a_node_that_hangs_delays_the_next_one_a_little() -> None:
    begun, seconds = started(HANGS, ANSWERS)
    assert begun == [0, 1]
    assert seconds >= STAGGER_SECONDS


def test_it_ends_when_every_node_has_refused() -> None:
    assert started(FAILS, FAILS)[0] == [0, 1]
