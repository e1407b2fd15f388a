"""Which functions ran, in which order, and how long each took: for looking at one message.

The interpreter's profile hook is set on a thread for as long as it takes, so that nothing in the
traced code has to know of it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    """A function that is worth naming: what it does, and what to say of a call."""

    label: str
    detail: Callable[[Mapping[str, Any]], str] = lambda _arguments: ""
    is_io: bool = False


@dataclass(slots=True)
class Call:
    """One call of such a function."""

    thread: str
    step: Step
    detail: str
    depth: int
    started_ns: int
    ended_ns: int = 0

    @property
    def took_us(self) -> float:
        return (self.ended_ns - self.started_ns) / 1_000


class FunctionTracer:
    """Collects calls while it is installed. One for each thread; `calls` are in their order.

    One that is installed for new threads sees those of a worker; it collects while `is_active`.
    """

    def __init__(self, thread: str, steps: Mapping[CodeType, Step]) -> None:
        self.calls: list[Call] = []
        self.is_active = True
        self._thread = thread
        self._steps = steps
        self._open: list[tuple[FrameType, Call]] = []

    def install(self) -> None:
        """Begins, on the calling thread."""
        sys.setprofile(self._event)

    def install_for_new_threads(self) -> None:
        """Begins on every thread that is started from now on, but does not collect yet."""
        self.is_active = False
        threading.setprofile(self._event)

    @staticmethod
    def uninstall_for_new_threads() -> None:
        threading.setprofile(None)

    @staticmethod
    def uninstall() -> None:
        sys.setprofile(None)

    def _event(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and self.is_active:
            step = self._steps.get(frame.f_code)
            if step is not None:
                detail = step.detail(frame.f_locals)
                call = Call(self._thread, step, detail, len(self._open), time.perf_counter_ns())
                self.calls.append(call)
                self._open.append((frame, call))
        elif event == "return" and self._open and self._open[-1][0] is frame:
            self._open.pop()[1].ended_ns = time.perf_counter_ns()
