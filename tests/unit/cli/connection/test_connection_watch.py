"""A cluster that falls silent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ottla.cli.connection.connection_watch import INTERVAL_S, PATIENCE_S, ConnectionWatch
from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.captured_terminal import captured_terminal, complained


class WatchedCluster:
    """Answers while it is up."""

    def __init__(self, *, is_patient: bool = False) -> None:
        self.is_up = True
        self.requests = 0
        self.clock = SimulatedClock()
        self.terminal: Terminal = captured_terminal()
        self.watch = ConnectionWatch(
            self.clock, self.terminal, self._answers, is_patient=is_patient
        )

    async def _answers(self) -> bool:
        self.requests += 1
        return self.is_up

    async def wait(self, seconds: float, *, has_received: bool = False) -> None:
        """Looks several times each second."""
        for _ in range(round(seconds * 4)):
            self.clock.advance(0.25)
            await self.watch.check(has_received=has_received)


def run(scenario: Callable[[WatchedCluster], Awaitable[None]], cluster: WatchedCluster) -> None:
    async def body() -> None:
        await scenario(cluster)

    asyncio.run(body())


def test_silence_ends_a_command_only_after_a_while() -> None:
    async def scenario(cluster: WatchedCluster) -> None:
        await cluster.wait(PATIENCE_S * 2)
        cluster.is_up = False
        await cluster.wait(PATIENCE_S - INTERVAL_S)
        with pytest.raises(CommandError, match="has not answered for 10 s") as raised:
            await cluster.wait(2 * INTERVAL_S)
        assert raised.value.exit_code == ExitCode.UNREACHABLE

    run(scenario, WatchedCluster())


def test_records_are_an_answer() -> None:
    async def scenario(cluster: WatchedCluster) -> None:
        cluster.is_up = False
        await cluster.wait(PATIENCE_S * 2, has_received=True)
        assert cluster.requests == 0

    run(scenario, WatchedCluster())


def test_a_silent_cluster_is_asked_now_and_then() -> None:
    async def scenario(cluster: WatchedCluster) -> None:
        await cluster.wait(INTERVAL_S * 5)
        assert 4 <= cluster.requests <= 5

    run(scenario, WatchedCluster())


def test_patience_reports_each_silence_once() -> None:
    async def scenario(cluster: WatchedCluster) -> None:
        for _ in range(2):
            cluster.is_up = False
            await cluster.wait(PATIENCE_S * 2)
            cluster.is_up = True
            await cluster.wait(INTERVAL_S * 2)
        assert complained(cluster.terminal).count("The connection to the cluster is lost") == 2

    run(scenario, WatchedCluster(is_patient=True))
