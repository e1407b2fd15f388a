"""A limit on log lines: so many from one place in the code within a while, then only their count.

Remote peers cause lines: malformed requests, refused connections, groups that rebalance without
end. Unlimited, they fill a disk and hide everything else. Lines are told apart by the statement
that logs them, so there are no more kinds than statements, whatever a peer sends.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from ottla.runtime.clock import Clock

LINES_MAX: Final = 10
WINDOW_SECONDS: Final = 10.0
_QUOTED_CHARACTERS_MAX: Final = 300


class _Place(NamedTuple):
    path: str
    line: int


class _Window:
    """What one place has logged since `started`."""

    __slots__ = ("last", "lines", "started", "suppressed")

    def __init__(self, started: float) -> None:
        self.started = started
        self.lines = 0
        self.suppressed = 0
        self.last: logging.LogRecord | None = None


class _CountRecord(logging.LogRecord):
    """Says how many lines were suppressed, and is not suppressed itself."""


class LogLimit(logging.Filter):
    """For a handler. The owner calls `report` about once in `WINDOW_SECONDS`, and at the end.

    Debug lines pass: they are there because a user asked for them. Workers may log as well; two
    threads that log at the same moment can make a count wrong by one.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._windows: dict[_Place, _Window] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno <= logging.DEBUG or isinstance(record, _CountRecord):
            return True
        now = self._clock.monotonic()
        place = _Place(record.pathname, record.lineno)
        window = self._windows.get(place)
        if window is None or now - window.started >= WINDOW_SECONDS:
            if window is not None:
                _report(window, now)
            window = self._windows[place] = _Window(now)
        window.lines += 1
        if window.lines <= LINES_MAX:
            return True
        window.suppressed += 1
        window.last = record
        return False

    def report(self) -> None:
        """Logs the counts of what was suppressed since the last report."""
        now = self._clock.monotonic()
        for place, window in list(self._windows.items()):
            _report(window, now)
            if now - window.started >= WINDOW_SECONDS:
                self._windows.pop(place, None)


def _report(window: _Window, now: float) -> None:
    last = window.last
    if last is None:
        return
    text = last.getMessage()
    if len(text) > _QUOTED_CHARACTERS_MAX:
        text = f"{text[:_QUOTED_CHARACTERS_MAX]} ..."
    count = _CountRecord(
        last.name,
        last.levelno,
        last.pathname,
        last.lineno,
        "... and %s more in the last %.0f s, the last one: %s",
        (f"{window.suppressed:,}", max(now - window.started, 1.0), text),
        None,
    )
    window.suppressed, window.last = 0, None
    logging.getLogger(last.name).handle(count)
