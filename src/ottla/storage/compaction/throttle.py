"""Compaction's share of the disk."""

from __future__ import annotations

from typing import Final, Protocol

# Sleeping for less costs more than it gives to others.
_SLEEP_SECONDS_MIN: Final = 0.05


class Sleep(Protocol):
    """Waits on the thread that compacts: a worker's, never a loop's."""

    def __call__(self, seconds: float, /) -> object: ...


class Throttle:
    """Holds bytes read and written, together, below a rate.

    It pays with a sleep for every byte and does not ask how long the work took, so the rate is a
    ceiling that is not quite reached.
    """

    __slots__ = ("_bytes_per_second", "_owed_seconds", "_sleep")

    def __init__(self, bytes_per_second: float | None, sleep: Sleep | None) -> None:
        assert bytes_per_second is None or sleep is not None, "a rate takes something to wait with"
        self._bytes_per_second = bytes_per_second
        self._sleep = sleep
        self._owed_seconds = 0.0

    def spend(self, byte_count: int) -> None:
        if self._bytes_per_second is None or self._sleep is None:
            return
        self._owed_seconds += byte_count / self._bytes_per_second
        if self._owed_seconds >= _SLEEP_SECONDS_MIN:
            self._sleep(self._owed_seconds)
            self._owed_seconds = 0.0
