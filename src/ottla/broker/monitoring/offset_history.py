"""When a partition's high watermark was where, to tell how old the next record of a group is.

An entry has an offset and the first and last moment at which it was observed as the high watermark.
Between two entries the offsets are taken to have grown evenly.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

# Then every second entry is dropped, except the newest ones.
_ENTRIES_MAX: Final = 64
_NEWEST: Final = 16


class OffsetHistory:
    """Of one partition. Times are monotonic seconds."""

    __slots__ = ("_firsts", "_lasts", "_offsets")

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._firsts: list[float] = []
        self._lasts: list[float] = []

    def __len__(self) -> int:
        return len(self._offsets)

    def observe(self, offset: int, now: float) -> None:
        if self._offsets and offset < self._offsets[-1]:
            # The partition was truncated, or created again: earlier offsets mean other records.
            self._offsets.clear()
            self._firsts.clear()
            self._lasts.clear()
        if not self._offsets or offset > self._offsets[-1]:
            self._offsets.append(offset)
            self._firsts.append(now)
            self._lasts.append(now)
            if len(self._offsets) > _ENTRIES_MAX:
                self._thin_out()
        self._lasts[-1] = now

    def forget_below(self, offset: int) -> None:
        """No group will be asked for below this offset."""
        kept = max(bisect_right(self._offsets, offset) - 1, 0)
        del self._offsets[:kept], self._firsts[:kept], self._lasts[:kept]

    def seconds_since(self, offset: int, now: float) -> float:
        """How long ago the high watermark left this offset; 0 if it has not. For an offset before
        the first observation, the time since that."""
        if not self._offsets or offset >= self._offsets[-1]:
            return 0.0
        index = bisect_right(self._offsets, offset) - 1
        if index < 0:
            return now - self._firsts[0]
        here, there = self._offsets[index], self._offsets[index + 1]
        left, reached = self._lasts[index], self._firsts[index + 1]
        return now - (left + (reached - left) * (offset - here) / (there - here))

    def _thin_out(self) -> None:
        old = len(self._offsets) - _NEWEST
        self._offsets[:old] = self._offsets[:old:2]
        self._firsts[:old] = self._firsts[:old:2]
        self._lasts[:old] = self._lasts[:old:2]
