"""Runs computations in submission order in a worker process, which starts with the first one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from ottla.runtime.worker_process import WorkerProcess

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")


class WorkerLane:
    """One worker process that runs one computation at a time and exits after it was idle for a
    while. Owned by one event loop."""

    def __init__(self, name: str, *, idle_seconds: float) -> None:
        self._worker = WorkerProcess()
        # The only thread that communicates with the worker; it keeps computations in order.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._idle_seconds = idle_seconds
        self._stop_timer: asyncio.TimerHandle | None = None
        self._computations: set[asyncio.Task[Any]] = set()

    def compute(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> Awaitable[T]:
        job = object()
        future = self._thread.submit(self._worker.call, job, function, arguments)
        task = asyncio.get_running_loop().create_task(self._finish(job, future))
        self._computations.add(task)
        task.add_done_callback(partial(self._finished, job, future))
        if self._stop_timer is not None:
            self._stop_timer.cancel()
        return task

    async def cancel(self) -> None:
        """Cancels every computation."""
        for task in self._computations:
            task.cancel()
        if self._computations:
            await asyncio.wait(self._computations)
        if self._stop_timer is not None:
            self._stop_timer.cancel()

    def shut_down(self) -> None:
        """Ends the thread and the process. Blocks; call `cancel` first."""
        self._thread.shutdown()
        self._worker.stop()

    async def _finish(self, job: object, future: Future[T]) -> T:
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._stop(job, future)
            # Waits until the thread has noticed the worker's end.
            await asyncio.gather(asyncio.wrap_future(future), return_exceptions=True)
            raise

    def _finished(self, job: object, future: Future[T], task: asyncio.Task[T]) -> None:
        # A task cancelled before its first step has not stopped its job.
        self._stop(job, future)
        self._computations.discard(task)
        if not self._computations:
            self._stop_timer = task.get_loop().call_later(
                self._idle_seconds, self._thread.submit, self._worker.stop
            )

    def _stop(self, job: object, future: Future[T]) -> None:
        """Keeps a job from starting, or kills the worker that runs it. Ignores a finished job."""
        if not future.cancel():
            self._worker.kill(job)
