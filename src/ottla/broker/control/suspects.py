"""Nodes that probably just died: their connection was lost, but they are not yet fenced.

A client whose leader died requests Metadata at once. If the response named the dead leader, the
client would lose a second or two. If it names no leader, the client retries after 100 ms, and by
then there is a new leader.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.control.leader_changes import LeaderChanges
from ottla.runtime.clock import Clock

# The controller fences a dead node far sooner. If it does not, the node is alive.
_SUSPECTED_SECONDS: Final = 1.0


class Suspects:
    """Owned by the node's loop."""

    __slots__ = ("_changes", "_clock", "_since")

    def __init__(self, clock: Clock, changes: LeaderChanges) -> None:
        self._clock = clock
        self._changes = changes
        self._since: dict[int, float] = {}

    def add(self, node_id: int) -> None:
        self._since[node_id] = self._clock.monotonic()

    def clear(self, node_id: int) -> None:
        if self._since.pop(node_id, None) is not None:
            self._changes.notify()

    def current(self) -> frozenset[int]:
        if self._since:
            oldest = self._clock.monotonic() - _SUSPECTED_SECONDS
            self._since = {each: since for each, since in self._since.items() if since > oldest}
        return frozenset(self._since)
