"""Limits the disk bandwidth of compaction."""

from __future__ import annotations

from typing import Final, Protocol

# A shorter sleep costs more than it frees for other work.
_SLEEP_SECONDS_MIN: Final = 0.05


class Sleep(Protocol):
    """Blocks the thread that compacts: a worker's, never an event loop's."""

    def __call__(self, seconds: float, /) -> object: ...


class Throttle:
    """Limits the rate of bytes read and written, together.

    It sleeps for every byte and does not subtract the time that the work itself took, so the actual
    rate stays a little below the limit.
    """

    __slots__ = ("_bytes_per_second", "_owed_seconds", "_sleep")

    def __init__(self, bytes_per_second: float | None, sleep: Sleep | None) -> None:
        assert bytes_per_second is None or sleep is not None, "a rate needs a clock to wait with"
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
