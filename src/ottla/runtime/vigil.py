"""Staying awake for a moment, where the next request is about to come.

A processor that has nothing to do is halted. To wake it takes tens of microseconds, on a virtual
machine more than many a request does, and by then its caches hold somebody else's things. Between
the requests of a transaction little time passes, so whoever serves them looks for the next one a
few times before it goes to sleep. Whoever else wants the processor meanwhile gets it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Final, Protocol

# Longer than a client on the same host or network takes from an answer to its next request, and
# short enough to be little even if it is in vain.
SECONDS_MAX: Final = 0.0003


class Vigil(Protocol):
    """A hint, which may be ignored."""

    def begin(self) -> None:
        """A request was dealt with that is mostly followed by another one in a moment. Its answer
        may still wait, for a follower say; then there is no hurry, and soon no vigil."""

    def end(self) -> None:
        """It has come."""


class NoVigil:
    """For a node that has its process, or its time, not for itself."""

    __slots__ = ()

    def begin(self) -> None: ...

    def end(self) -> None: ...


class SystemVigil:
    """For the loop of a process of its own.

    Learns whether it is worth it: after one that was in vain there are none until a request came
    so soon that it would not have been.
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
        """Has the loop look for what has come, again and again."""
        if self._begun is None or self._monotonic() - self._begun > SECONDS_MAX:
            self._is_watching = False
            return
        os.sched_yield()
        asyncio.get_running_loop().call_soon(self._watch)


NO_VIGIL: Final = NoVigil()
