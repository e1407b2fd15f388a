"""Timers that are mostly postponed, such as session timeouts: each heartbeat moves the deadline.

Moving a deadline is two assignments. The underlying timer fires at its original time, finds that
the deadline has moved, and is set again.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.coordinator.runtime.state_machine import TimedOperation
from ottla.runtime.clock import Clock, Timer


class _Deadline:
    __slots__ = ("operation", "rings_at", "timer", "when")

    def __init__(self, when: float, operation: TimedOperation) -> None:
        self.when = when
        self.rings_at = when
        self.operation = operation
        self.timer: Timer | None = None


class ShardTimers:
    """Owned by a shard, which closes it. `run` gets each operation when it is due."""

    def __init__(self, clock: Clock, run: Callable[[TimedOperation], None]) -> None:
        self._clock = clock
        self._run = run
        self._deadlines: dict[object, _Deadline] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._deadlines

    def schedule(self, key: object, *, delay_ms: float, operation: TimedOperation) -> None:
        when = self._clock.monotonic() + delay_ms / 1_000
        deadline = self._deadlines.get(key)
        if deadline is not None and deadline.rings_at <= when:
            deadline.when, deadline.operation = when, operation
            return
        if deadline is not None and deadline.timer is not None:
            deadline.timer.cancel()
        deadline = self._deadlines[key] = _Deadline(when, operation)
        self._set(key, deadline, delay_ms / 1_000)

    def schedule_if_absent(
        self, key: object, *, delay_ms: float, operation: TimedOperation
    ) -> None:
        if key not in self._deadlines:
            self.schedule(key, delay_ms=delay_ms, operation=operation)

    def cancel(self, key: object) -> None:
        deadline = self._deadlines.pop(key, None)
        if deadline is not None and deadline.timer is not None:
            deadline.timer.cancel()

    def close(self) -> None:
        for key in list(self._deadlines):
            self.cancel(key)

    def _set(self, key: object, deadline: _Deadline, seconds: float) -> None:
        deadline.rings_at = deadline.when
        deadline.timer = self._clock.call_later(seconds, lambda: self._ring(key, deadline))

    def _ring(self, key: object, deadline: _Deadline) -> None:
        assert self._deadlines.get(key) is deadline
        left = deadline.when - self._clock.monotonic()
        if left > 0:
            self._set(key, deadline, left)
            return
        del self._deadlines[key]
        # Breaks the reference cycle of timer and deadline, which only the garbage collector
        # would free.
        deadline.timer = None
        self._run(deadline.operation)
