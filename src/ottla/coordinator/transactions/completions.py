"""Requests that wait while the markers of the previous transaction are being written.

A producer often starts the next transaction right after a commit. CONCURRENT_TRANSACTIONS would
cost it a retry backoff that is many times longer than writing the markers.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.coordinator.runtime.outcome import NOTHING, Outcome
from ottla.coordinator.runtime.state_machine import Timers


class Completions:
    """Owned by the coordinator of a partition. Each callback is called once: when the transaction
    is complete, after a timeout, or when this node stops coordinating."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._waiting: dict[str, list[Callable[[], None]]] = {}

    def wait(self, transactional_id: str, callback: Callable[[], None], *, wait_ms: int) -> None:
        self._waiting.setdefault(transactional_id, []).append(callback)
        self._timers.schedule_if_absent(
            ("completion", transactional_id),
            delay_ms=wait_ms,
            operation=lambda: self._notify(transactional_id),
        )

    def completed(self, transactional_id: str) -> None:
        """Schedules the callbacks to run right after the current operation."""
        if transactional_id in self._waiting:
            self._timers.schedule(
                ("completion", transactional_id),
                delay_ms=0,
                operation=lambda: self._notify(transactional_id),
            )

    def close(self) -> None:
        for transactional_id in list(self._waiting):
            self._notify(transactional_id)

    def _notify(self, transactional_id: str) -> Outcome:
        for callback in self._waiting.pop(transactional_id, ()):
            callback()
        return NOTHING
