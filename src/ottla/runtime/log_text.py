"""Log lines in which names that clients choose cannot end the line or control a terminal.

A group's id, for example, may contain any character: a line end would begin a forged line.
"""

from __future__ import annotations

import logging
from types import TracebackType

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]


def escape_unprintable(text: str, *, kept: str = "") -> str:
    """Escapes control characters, line ends and other unprintable characters, except `kept`."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in kept else each.encode("unicode_escape").decode()
        for each in text
    )


class LogFormatter(logging.Formatter):
    """One line for a message, and the usual lines of a traceback."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return escape_unprintable(super().formatMessage(record))

    def formatException(  # noqa: N802 - logging's name
        self, ei: _ExcInfo | tuple[None, None, None]
    ) -> str:
        return escape_unprintable(super().formatException(ei), kept="\n")
