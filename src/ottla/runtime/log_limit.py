"""Limits log lines: each log statement may log a number of lines per time window; after that only
their count is logged.

Remote peers cause log lines: malformed requests, refused connections, groups that rebalance
forever. Without a limit they fill the disk and hide everything else. The limit is per log
statement, so the number of counters is bounded, whatever a peer sends.
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
    """What one log statement has logged since `started`."""

    __slots__ = ("last", "lines", "started", "suppressed")

    def __init__(self, started: float) -> None:
        self.started = started
        self.lines = 0
        self.suppressed = 0
        self.last: logging.LogRecord | None = None


class _CountRecord(logging.LogRecord):
    """Reports the number of suppressed lines; never suppressed itself."""


class LogLimit(logging.Filter):
    """A filter for a log handler. The owner calls `report` about once per `WINDOW_SECONDS`, and at
    the end.

    Debug lines pass, because a user has enabled them. Workers may log too; if two threads log at
    the same moment, a count may be off by one.
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
        """Logs the number of lines suppressed since the last report."""
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
