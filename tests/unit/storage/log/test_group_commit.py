from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple

import pytest

from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.runtime.background import InlineBackground
from ottla.runtime.tasks import Tasks
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log
from ottla.storage.log.log_loading import open_log
from ottla.storage.log_config import LogConfig
from tests.support.storage.batches import batch_of

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class Gate(InlineBackground):
    """Background work that waits until it is let through."""

    def __init__(self) -> None:
        self.jobs = 0
        self.started = asyncio.Event()
        self.opened = asyncio.Event()

    def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:  # type: ignore[override]
        self.jobs += 1
        return self._run(function, *arguments)

    async def _run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        self.started.set()
        await self.opened.wait()
        return function(*arguments)


class Keeper:
    def lower(self, partition: TopicPartition, recovery_point: int) -> None: ...


def new_log(disk: SimulatedDisk) -> Log:
    disk.make_directories("/logs/t-0")
    name = TopicPartition("t", 0)
    return open_log(disk, "/logs/t-0", name, LogConfig(), recovery_points=Keeper(), now_ms=0)


def append(log: Log) -> int:
    return log.append_as_leader(batch_of(b"v"), leader_epoch=0, now_ms=0).last_offset + 1


def fail(name: str, error: BaseException) -> None:
    raise AssertionError(name) from error


def test_one_sync_serves_all_waiters() -> None:
    async def scenario() -> None:
        disk, gate = SimulatedDisk(), Gate()
        log, tasks = new_log(disk), Tasks(fail)
        commit = GroupCommit(gate, tasks)
        first = commit.when_durable(log, append(log))
        await gate.started.wait()
        assert gate.jobs == 1
        others = [commit.when_durable(log, append(log)) for _ in range(50)]
        gate.opened.set()
        await asyncio.gather(first, *others)

        assert gate.jobs == 2
        assert log.recovery_point == log.log_end_offset == 51
        await tasks.close()

    asyncio.run(scenario())


def test_listeners_are_notified_of_a_sync_before_waiters() -> None:
    async def scenario() -> None:
        disk, gate = SimulatedDisk(), Gate()
        log, tasks = new_log(disk), Tasks(fail)
        commit, notified = GroupCommit(gate, tasks), list[tuple[int, bool]]()
        gate.opened.set()
        waiting = commit.when_durable(log, append(log))
        commit.listen(lambda synced: notified.append((synced.recovery_point, waiting.done())))
        await waiting
        assert notified == [(1, False)]
        await tasks.close()

    asyncio.run(scenario())


def test_what_is_durable_already_waits_for_nothing() -> None:
    async def scenario() -> None:
        log, gate, tasks = new_log(SimulatedDisk()), Gate(), Tasks(fail)
        end = append(log)
        log.flush()

        assert GroupCommit(gate, tasks).when_durable(log, end).done()
        assert gate.jobs == 0
        await tasks.close()

    asyncio.run(scenario())


def test_a_failed_sync_reaches_all_waiters() -> None:
    async def scenario() -> None:
        log, tasks = new_log(SimulatedDisk()), Tasks(fail)

        class Broken(Gate):
            async def _run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
                raise OSError(5, "Input/output error")

        commit = GroupCommit(Broken(), tasks)
        waiting = [commit.when_durable(log, append(log)) for _ in range(3)]
        for future in waiting:
            with pytest.raises(OSError, match="Input/output"):
                await future
        assert log.recovery_point == 0
        await tasks.close()

    asyncio.run(scenario())


def test_a_log_that_is_taken_away_meanwhile_is_no_failure_of_the_disk() -> None:
    async def scenario() -> None:
        disk = SimulatedDisk()
        log, gate, tasks = new_log(disk), Gate(), Tasks(fail)
        commit = GroupCommit(gate, tasks)
        waiting = commit.when_durable(log, append(log))
        await gate.started.wait()
        log.abandon()
        disk.rename("/logs/t-0", "/logs/t-0.deleted")
        gate.opened.set()

        with pytest.raises(KafkaError, match="t-0 is no longer on this node"):
            await waiting
        assert not commit.is_syncing(log)
        await tasks.close()

    asyncio.run(scenario())


def test_an_append_that_was_truncated_is_not_acknowledged() -> None:
    async def scenario() -> None:
        log, gate, tasks = new_log(SimulatedDisk()), Gate(), Tasks(fail)
        commit = GroupCommit(gate, tasks)
        append(log)
        waiting = commit.when_durable(log, append(log))
        await gate.started.wait()
        log.truncate_to(1, now_ms=0)
        gate.opened.set()

        with pytest.raises(KafkaError) as caught:
            await waiting
        assert caught.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
        await tasks.close()

    asyncio.run(scenario())
