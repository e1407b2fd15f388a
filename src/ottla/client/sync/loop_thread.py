"""The event loop of all synchronous clients of a process, in a thread of its own.

So heartbeats and deliveries go on between calls. The thread starts with the first call and is a
daemon: it keeps no program from ending. At the end of the interpreter the loop stops before modules
are torn down; clients that were not closed by then are not closed properly. A forked child has no
thread: its first call starts another one, and clients of the parent cannot be used there.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from ottla.client.errors import IllegalStateError, TimedOutError

T = TypeVar("T")

_STOP_SECONDS_MAX: Final = 5.0


class LoopThread:
    """A running event loop. `shared` is that of the process."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self.loop = _new_loop()
        self._thread = threading.Thread(target=self._run, name="ottla-client", daemon=True)
        self._thread.start()

    @classmethod
    def shared(cls) -> LoopThread:
        with _lock:
            if not _shared:
                _shared.append(cls())
            return _shared[0]

    def run(
        self,
        function: Callable[..., Coroutine[Any, Any, T]],
        /,
        *arguments: Any,
        timeout: float | None = None,
    ) -> T:
        """Calls a coroutine function on the loop and waits for its result. An interrupt (Ctrl+C)
        cancels it. Raises TimedOutError after the timeout in seconds."""
        future = self.start(function, *arguments)
        try:
            return future.result(timeout)
        except concurrent.futures.TimeoutError as error:
            if future.done():
                raise
            future.cancel()
            raise TimedOutError(f"no result within {timeout} s") from error
        except BaseException:
            future.cancel()
            raise

    def start(
        self, function: Callable[..., Coroutine[Any, Any, T]], /, *arguments: Any
    ) -> concurrent.futures.Future[T]:
        """Calls a coroutine function on the loop, and does not wait."""
        self._require_usable()
        return asyncio.run_coroutine_threadsafe(function(*arguments), self.loop)

    def call(self, function: Callable[[], T]) -> T:
        """Calls a function on the loop and waits for its result."""

        async def called() -> T:
            return function()

        return self.run(called)

    def stop(self) -> None:
        if self._process == os.getpid() and self._thread.is_alive():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(_STOP_SECONDS_MAX)

    def _require_usable(self) -> None:
        if self._process != os.getpid():
            raise IllegalStateError(
                "this client belongs to the parent process: create another one after the fork"
            )
        if threading.current_thread() is self._thread:
            raise IllegalStateError(
                "a callback of a client called one of its synchronous methods, which would wait "
                "for itself: call it from another thread"
            )
        if not self._thread.is_alive():
            raise IllegalStateError("the interpreter is ending: close clients before")

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        # The loop of a finished interpreter is not closed: tasks of clients may be left on it.
        with contextlib.suppress(RuntimeError):
            self.loop.run_forever()


_shared: Final[list[LoopThread]] = []
_lock = threading.Lock()


def _new_loop() -> asyncio.AbstractEventLoop:
    import uvloop

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def _forget() -> None:
    """In a forked child: its parent's thread does not exist here, and its lock may be held."""
    global _lock
    _lock = threading.Lock()
    _shared.clear()


def _stop() -> None:
    for each in _shared:
        each.stop()


os.register_at_fork(after_in_child=_forget)
atexit.register(_stop)
