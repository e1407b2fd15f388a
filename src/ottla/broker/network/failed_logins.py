"""Logs the clients that do not authenticate: each at once, and then every minute while it goes on.

A node with wrong credentials tries again every second, and so do many clients. Lines have nothing
that the client sent, and not the whole reason, which would help an attacker.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from ottla.broker.control.authentication import Authentication
from ottla.runtime.clock import Clock

_log = logging.getLogger(__name__)

REPEAT_SECONDS: Final = 60.0
# Bounds the memory. With more, the oldest are logged again.
_PLACES_MAX: Final = 1_000


class _Place(NamedTuple):
    listener: str
    host: str
    failure: str


class _Repeats(NamedTuple):
    logged_at: float
    since_then: int = 0


class FailedLogins:
    """Owned by the node's loop."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._repeats: dict[_Place, _Repeats] = {}

    def report(self, outcome: Authentication) -> None:
        """Successes are ignored."""
        if outcome.failure is None:
            return
        place = _Place(outcome.listener, outcome.host, outcome.failure)
        now = self._clock.monotonic()
        known = self._repeats.get(place)
        if known is not None and now - known.logged_at < REPEAT_SECONDS:
            self._repeats[place] = known._replace(since_then=known.since_then + 1)
            return
        if known is None and len(self._repeats) >= _PLACES_MAX:
            del self._repeats[next(iter(self._repeats))]
        self._repeats[place] = _Repeats(now)
        count = 0 if known is None else known.since_then
        _log.info(
            "the client at %s did not authenticate on %s: %s%s",
            place.host,
            place.listener,
            place.failure,
            f" ({count:,} more times since the last line)" if count else "",
        )
