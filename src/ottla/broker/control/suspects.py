"""Nodes that seem to have died a moment ago: their connections ended, nothing else is known yet.

A client whose leader died asks at once who leads now. To be told the dead one would cost it a
second or two; told that there is no leader, it asks again in a tenth of a second, and by then there
is one.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.control.leader_changes import LeaderChanges
from ottla.runtime.clock import Clock

# The controller decides far sooner. If it does not, the node is not dead.
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
