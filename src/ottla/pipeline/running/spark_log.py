"""Spark's log in a file, and the one line of it that says why Spark did not start or ended."""

from __future__ import annotations

import logging
import re
import shlex
from pathlib import Path
from typing import Final

_LOG4J: Final = Path(__file__).with_name("log4j2.properties")
# Of the end of a log.
_BYTES_READ: Final = 64 << 10
_CAUSES: Final = (
    re.compile(r"java\.lang\.OutOfMemoryError.*"),
    re.compile(r"^Caused by: (.+)$", re.MULTILINE),
    re.compile(r"^Exception in thread \S+ (.+)$", re.MULTILINE),
    re.compile(r"^(?:Error|error): (.+)$", re.MULTILINE),
    re.compile(r"^(?:Invalid|Unrecognized|Could not) .+$", re.MULTILINE),
)


def java_options(log: Path) -> str:
    """Spark's log goes to this file: 10 MB, and three older ones."""
    return " ".join(
        shlex.quote(each)
        for each in (f"-Dlog4j2.configurationFile={_LOG4J.as_uri()}", f"-Dottla.log={log}")
    )


def divert_python(log: Path | None) -> None:
    """What the bridge to Java logs in this process, partly without a name: to Spark's log, or to
    standard error. Our own warnings are for the terminal."""
    ours = logging.StreamHandler()
    bridge = ours if log is None else logging.FileHandler(log, delay=True)
    for name, handler in (("", bridge), ("ottla", ours)):
        handler.setLevel(logging.WARNING)
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False


def cause_in(log: Path | None) -> str | None:
    """The last cause that the log names."""
    if log is None or not log.exists():
        return None
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _BYTES_READ))
        text = file.read().decode(errors="replace")
    for pattern in _CAUSES:
        if found := [each.group(each.lastindex or 0) for each in pattern.finditer(text)]:
            return found[-1].strip()
    return None
