"""Releases that a failover or a crash could still undo, and what they have released.

Until then retention has to keep the held records: the next leader would release them again.
"""

from __future__ import annotations

from collections import deque
from typing import Final

# With more, the latest are remembered as one.
RELEASES_MAX: Final = 1_000


class UnsettledReleases:
    """Owned by the leader of a partition."""

    def __init__(self) -> None:
        # The offset after the release, and the first offset that it has released, in order.
        self._releases: deque[tuple[int, int]] = deque()

    def __len__(self) -> int:
        return len(self._releases)

    def add(self, end_offset: int, oldest_offset: int) -> None:
        if len(self._releases) >= RELEASES_MAX:
            oldest_offset = min(oldest_offset, self._releases.pop()[1])
        self._releases.append((end_offset, oldest_offset))

    def settle(self, offset: int) -> None:
        """Everything below this offset is committed and on the device."""
        releases = self._releases
        while releases and releases[0][0] <= offset:
            releases.popleft()

    def oldest(self) -> int | None:
        """The first offset that was released and is still needed."""
        return min((oldest for _, oldest in self._releases), default=None)

    def end_below(self, offset: int) -> int:
        """The end of the last release below this offset, or 0."""
        return max((end for end, _ in self._releases if end <= offset), default=0)
