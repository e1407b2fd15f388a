"""Threads for what waits, a process for what calculates."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from ottla.runtime.worker_process import WorkerProcess

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class SystemBackground:
    """Real background work for one event loop.

    Threads start as they are needed. The worker process starts with the first computation, does
    one at a time in the order they were asked for, and ends when it had none for a while.
    """

    def __init__(self, *, threads: int = 8, worker_idle_seconds: float = 60.0) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="ottla-blocking")
        self._worker = WorkerProcess()
        # The one thread that talks to the worker, and so puts computations in order.
        self._worker_thread = ThreadPoolExecutor(1, thread_name_prefix="ottla-worker")
        self._worker_idle_seconds = worker_idle_seconds
        self._worker_stop: asyncio.TimerHandle | None = None
        self._computations: set[asyncio.Task[Any]] = set()

    def run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def compute(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        job = object()
        future = self._worker_thread.submit(self._worker.call, job, function, arguments)
        task = asyncio.get_running_loop().create_task(self._finish(job, future))
        self._computations.add(task)
        task.add_done_callback(partial(self._finished, job, future))
        if self._worker_stop is not None:
            self._worker_stop.cancel()
        return task

    async def close(self) -> None:
        for task in self._computations:
            task.cancel()
        if self._computations:
            await asyncio.wait(self._computations)
        if self._worker_stop is not None:
            self._worker_stop.cancel()
        await asyncio.get_running_loop().run_in_executor(None, self._shut_down)

    async def _finish(self, job: object, future: Future[T]) -> T:
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._stop(job, future)
            # Until the thread that talked to the worker has seen its end.
            await asyncio.gather(asyncio.wrap_future(future), return_exceptions=True)
            raise

    def _finished(self, job: object, future: Future[T], task: asyncio.Task[T]) -> None:
        # A task that was cancelled before its first step has stopped nothing yet.
        self._stop(job, future)
        self._computations.discard(task)
        if not self._computations:
            self._worker_stop = task.get_loop().call_later(
                self._worker_idle_seconds, self._worker_thread.submit, self._worker.stop
            )

    def _stop(self, job: object, future: Future[T]) -> None:
        """Keeps a job from starting or ends it; does nothing to one that is over."""
        if not future.cancel():
            self._worker.kill(job)

    def _shut_down(self) -> None:
        self._worker_thread.shutdown()
        self._worker.stop()
        self._threads.shutdown()
