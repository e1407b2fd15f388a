"""Polls for a moment when the next request is about to arrive.

An idle processor is halted. Waking it takes tens of microseconds, on a virtual machine more than
many requests take, and its caches have been overwritten by then. The requests of a transaction
follow each other quickly, so the event loop polls a few times for the next one before it sleeps. It
yields the processor to other threads and processes meanwhile.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Final, Protocol

# Longer than a client on the same host or network needs from a response to its next request, and
# short enough to cost little if no request arrives.
SECONDS_MAX: Final = 0.0003


class BusyPoll(Protocol):
    """A hint, which may be ignored."""

    def begin(self) -> None:
        """A request was processed that is usually followed by another at once. Its response may
        still be pending, for a follower for instance; then no request follows soon, and polling
        soon stops."""

    def end(self) -> None:
        """The next request has arrived."""


class NoBusyPoll:
    """For a node that shares its process or its processor."""

    __slots__ = ()

    def begin(self) -> None: ...

    def end(self) -> None: ...


class SystemBusyPoll:
    """For the event loop of a process of its own.

    Adapts: after polling in vain it stops polling until a request arrives soon enough that polling
    would have caught it.
    """

    __slots__ = ("_begun", "_is_watching", "_is_worth_it", "_monotonic")

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._begun: float | None = None
        self._is_worth_it = False
        self._is_watching = False

    def begin(self) -> None:
        self._begun = self._monotonic()
        if self._is_worth_it and not self._is_watching:
            self._is_watching = True
            asyncio.get_running_loop().call_soon(self._watch)

    def end(self) -> None:
        if self._begun is not None:
            self._is_worth_it = self._monotonic() - self._begun <= SECONDS_MAX
            self._begun = None

    def _watch(self) -> None:
        """Keeps the loop polling for events."""
        if self._begun is None or self._monotonic() - self._begun > SECONDS_MAX:
            self._is_watching = False
            return
        os.sched_yield()
        asyncio.get_running_loop().call_soon(self._watch)


NO_BUSY_POLL: Final = NoBusyPoll()
