"""A recent byte rate, measured like Kafka's quotas.

Bytes are counted in windows; the newest windows are kept. Until the first window is complete, the
rate is its bytes divided by the whole window length.
"""

from __future__ import annotations

from collections import deque


class ByteRate:
    """Times are monotonic seconds."""

    __slots__ = ("_window_seconds", "_windows", "_windows_max")

    def __init__(self, *, windows_max: int, window_seconds: float) -> None:
        self._windows_max = windows_max
        self._window_seconds = window_seconds
        # Each window's start and byte count.
        self._windows: deque[tuple[float, int]] = deque()

    def record(self, size: int, *, now: float) -> None:
        windows = self._windows
        if windows and now - windows[-1][0] < self._window_seconds:
            start, counted = windows[-1]
            windows[-1] = (start, counted + size)
        else:
            self._forget(now)
            windows.append((now, size))

    def per_second(self, *, now: float) -> float:
        self._forget(now)
        windows = self._windows
        if not windows:
            return 0.0
        elapsed = max(now - windows[0][0], self._window_seconds)
        return sum(counted for _, counted in windows) / elapsed

    def _forget(self, now: float) -> None:
        kept_seconds = self._windows_max * self._window_seconds
        while self._windows and now - self._windows[0][0] >= kept_seconds:
            self._windows.popleft()
