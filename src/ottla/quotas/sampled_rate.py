"""The rate of a client, measured in windows as Kafka's `Rate` does.

Values are added up in windows. A ring keeps the newest ones: the number of `quota.window.num`, and
one more that overlaps the measured time. The first windows of a client count as if it had been idle
before: the rate is divided by at least all windows but the current one.

All times are in milliseconds. The arithmetic decides throttle times, so it is Kafka's exactly,
including what a window is when nothing was recorded for a while.
"""

from __future__ import annotations


class Windows:
    """How rates are measured: `quota.window.num` and `quota.window.size.seconds`."""

    __slots__ = ("count", "size_ms")

    def __init__(self, *, count: int, size_seconds: int) -> None:
        self.count = count
        self.size_ms = size_seconds * 1_000

    @property
    def seconds(self) -> float:
        """The length of all windows."""
        return self.count * self.size_ms / 1_000


class _Window:
    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, now_ms: int) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.value = 0.0


class SampledRate:
    """Owned by one meter. Times never decrease."""

    __slots__ = ("_current", "_ring", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._ring: list[_Window] = []
        self._current = 0

    def record(self, value: float, now_ms: int) -> None:
        """Adds a value. A negative value takes back an earlier one."""
        ring = self._ring
        if not ring:
            ring.append(_Window(now_ms))
        window = ring[self._current]
        if now_ms - window.start_ms >= self._windows.size_ms:
            window = self._advance(now_ms)
        window.value += value
        window.last_ms = now_ms

    def per_second(self, now_ms: int) -> float:
        span_ms = self.span_ms(now_ms)
        return sum(window.value for window in self._ring) / (span_ms / 1_000)

    def span_ms(self, now_ms: int) -> int:
        """The time that the rate is measured over."""
        self._forget_old(now_ms)
        ring, windows = self._ring, self._windows
        if not ring:
            ring.append(_Window(now_ms))
        elapsed_ms = now_ms - min(window.start_ms for window in ring)
        missing = windows.count - 1 - elapsed_ms // windows.size_ms
        if missing > 0:
            elapsed_ms += missing * windows.size_ms
        return max(elapsed_ms, 1)

    def _advance(self, now_ms: int) -> _Window:
        ring = self._ring
        self._current = (self._current + 1) % (self._windows.count + 1)
        if self._current >= len(ring):
            ring.append(_Window(now_ms))
        else:
            ring[self._current].reset(now_ms)
        return ring[self._current]

    def _forget_old(self, now_ms: int) -> None:
        """Empties windows whose last value is too old. As in Kafka, they begin again now and stay
        in the ring."""
        age_max_ms = self._windows.count * self._windows.size_ms
        for window in self._ring:
            if now_ms - window.last_ms >= age_max_ms:
                window.reset(now_ms)
