"""Ranks fetch sessions by last use, and older ones by size."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from ottla.broker.fetching.fetch_session import FetchSession

_OUTDATED_MAX: Final = 64


class FetchSessionRanking:
    """Finds a session to evict without a scan. `smallest` adds sessions to the heap by size once
    they are old enough, and skips heap entries with an outdated size."""

    __slots__ = ("_by_size", "_by_use", "_young")

    def __init__(self) -> None:
        self._by_use: dict[int, FetchSession] = {}
        # Ordered by opening time.
        self._young: dict[int, FetchSession] = {}
        # A heap of (size, session id).
        self._by_size: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self._by_use)

    def add(self, session: FetchSession) -> None:
        self._by_use[session.id] = self._young[session.id] = session

    def remove(self, session: FetchSession) -> None:
        del self._by_use[session.id]
        self._young.pop(session.id, None)

    def used(self, session: FetchSession) -> None:
        self._by_use[session.id] = self._by_use.pop(session.id)

    def resized(self, session: FetchSession) -> None:
        if session.id in self._young:
            return
        heappush(self._by_size, (session.size, session.id))
        if len(self._by_size) > 2 * len(self._by_use) + _OUTDATED_MAX:
            self._by_size = [
                (each.size, each.id) for each in self._by_use.values() if each.id not in self._young
            ]
            heapify(self._by_size)

    @property
    def longest_unused(self) -> FetchSession | None:
        return next(iter(self._by_use.values()), None)

    def smallest(self, *, opened_before: float) -> FetchSession | None:
        while self._young:
            oldest = next(iter(self._young.values()))
            if oldest.opened_at >= opened_before:
                break
            del self._young[oldest.id]
            heappush(self._by_size, (oldest.size, oldest.id))
        while self._by_size:
            size, session_id = self._by_size[0]
            session = self._by_use.get(session_id)
            if session is not None and session.size == size and session_id not in self._young:
                return session
            heappop(self._by_size)
        return None
