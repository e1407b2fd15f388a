"""Owns background tasks: cancels them with their owner and reports their errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Tasks:
    """Tasks that end no later than their owner.

    A failed task is reported to `on_error(name, error)` at once, on the loop, which decides what
    the failure means for the node. `close` cancels running tasks and waits for them; after that no
    task can be started.
    """

    def __init__(self, on_error: Callable[[str, BaseException], None]) -> None:
        self._on_error = on_error
        # A dict, because a set has a different order in each run.
        self._tasks: dict[asyncio.Task[object], None] = {}
        self.is_closed = False

    def start(self, name: str, coroutine: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        """Runs a coroutine until it ends or `close` cancels it."""
        if self.is_closed:
            coroutine.close()
            raise RuntimeError(f"cannot start {name}: its owner has closed")
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    async def close(self) -> None:
        """Must not be called from one of the tasks, which would wait for itself."""
        self.is_closed = True
        assert asyncio.current_task() not in self._tasks, "a task cannot close its own owner"
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._tasks.pop(task, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._on_error(task.get_name(), error)
