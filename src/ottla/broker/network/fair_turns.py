"""Shares the time of the event loop between clients: one with many requests costs others little.

A client is an authenticated user, or a client id at an address. While only one client sends
requests, nothing is shared: each connection has turns of a few milliseconds. Once another client
has sent a request, for a second:

- A connection has turns of half a millisecond, and at least one request.
- A client without waiting connections is served at once, when its bytes arrive. One that has used
  its time of this round waits.
- Waiting connections get turns once in each iteration of the event loop, for a millisecond in all.
  Of the clients that wait, the one that has used the least time is next. Time while it had nothing
  to do does not count for it.

So a client with few requests waits for one request of each other client, and for a millisecond of
turns, however many connections they have. While a connection waits, the node does not read from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Final
from weakref import WeakValueDictionary

from ottla.runtime.clock import Clock

TURN_SECONDS: Final = 0.005
_SHARED_TURN_SECONDS: Final = 0.0005
_ROUND_SECONDS: Final = 0.001
_CONTENTION_SECONDS: Final = 1.0


class Share:
    """What one client has used. Its connections keep it."""

    __slots__ = ("__weakref__", "spent", "used", "waiting")

    def __init__(self) -> None:
        # In this round, outside of the queue.
        self.spent = 0.0
        # Of the time that waiting connections got; comparable among them only.
        self.used = 0.0
        self.waiting: deque[Callable[[], None]] = deque()


class FairTurns:
    """Owned by the node's loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._monotonic = clock.monotonic
        # Of connections before their first request.
        self.unidentified = Share()
        self._shares: WeakValueDictionary[Hashable, Share] = WeakValueDictionary()
        self._waiting: list[Share] = []
        self._spenders: list[Share] = []
        # The time used by the client that was served last.
        self._served_until = 0.0
        self._is_scheduled = False
        # The client that sent the last request. Until then, another one had sent requests.
        self.last: Share | None = None
        self.contended_until = 0.0
        self.turn_seconds = TURN_SECONDS

    def identify(self, client: Hashable) -> Share:
        """The share of a client that has sent a request."""
        share = self._shares.get(client)
        if share is None:
            share = self._shares[client] = Share()
        if share is not self.last:
            self.enter(share, self._monotonic())
        return share

    def enter(self, share: Share, now: float) -> None:
        """Called when the client that sends requests is another one than the last."""
        if share is self.unidentified:
            return
        if self.last is not None:
            self.contended_until = now + _CONTENTION_SECONDS
            self.turn_seconds = _SHARED_TURN_SECONDS
        self.last = share

    def may_run(self, share: Share) -> bool:
        """Whether a client is served at once. Called while several clients send requests."""
        return not share.waiting and share.spent < _SHARED_TURN_SECONDS

    def spend(self, share: Share, seconds: float) -> None:
        """Counts the time for which a client was served at once."""
        if not share.spent:
            self._spenders.append(share)
            self._schedule()
        share.spent += seconds

    def queue(self, share: Share, turn: Callable[[], None]) -> None:
        """Calls `turn` when it is the client's turn, but not before other events."""
        if self._monotonic() >= self.contended_until:
            self.turn_seconds = TURN_SECONDS
            self._clock.call_later(0, turn)
            return
        if not share.waiting:
            self._waiting.append(share)
            share.used = max(share.used, self._served_until)
        share.waiting.append(turn)
        self._schedule()

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._clock.call_later(0, self._run_round)

    def _run_round(self) -> None:
        self._is_scheduled = False
        for share in self._spenders:
            share.spent = 0.0
        self._spenders.clear()
        waiting, now = self._waiting, self._monotonic()
        end = now + _ROUND_SECONDS
        while waiting:
            share = min(waiting, key=_used)
            self._served_until = share.used
            turn = share.waiting.popleft()
            if not share.waiting:
                waiting.remove(share)
            turn()
            after = self._monotonic()
            share.used += after - now
            now = after
            if now >= end:
                break
        if waiting:
            self._schedule()


def _used(share: Share) -> float:
    return share.used
