"""Threads for functions that wait, processes for functions that compute."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar, TypeVarTuple

from ottla.runtime.limited_job import JobLimits, run_limited
from ottla.runtime.worker_lane import WorkerLane

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_LIMITS: Final = JobLimits(cpu_seconds=3)


class SystemBackground:
    """Real background work for one event loop.

    Threads start on demand. So do the three worker processes: one for long computations, one for
    those that a client waits for, one for work on what strangers wrote. Each runs one job at a
    time, in submission order, and exits after it was idle for a while.
    """

    def __init__(self, *, threads: int = 8, worker_idle_seconds: float = 60.0) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="ottla-blocking")
        self._long = WorkerLane("ottla-worker", idle_seconds=worker_idle_seconds)
        self._short = WorkerLane("ottla-short-worker", idle_seconds=worker_idle_seconds)
        self._limited = WorkerLane("ottla-limited-worker", idle_seconds=worker_idle_seconds)

    def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def compute(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        return self._long.compute(function, *arguments)

    def compute_soon(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        return self._short.compute(function, *arguments)

    def compute_limited(
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        return self._limited.compute(_run_limited, function, arguments)

    async def close(self) -> None:
        await self._long.cancel()
        await self._short.cancel()
        await self._limited.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self._shut_down)

    def _shut_down(self) -> None:
        self._long.shut_down()
        self._short.shut_down()
        self._limited.shut_down()
        self._threads.shutdown()


def _run_limited(function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    return run_limited(_LIMITS, function, arguments)
