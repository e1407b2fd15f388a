"""What a client writes to its log, which is where some clients say why they cannot connect."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def captured_log(name: str) -> Iterator[list[str]]:
    """The lines of a logger and those below it, as they come; they go nowhere else."""
    logger, collector = logging.getLogger(name), _Collector()
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(collector)
    try:
        yield collector.lines
    finally:
        logger.removeHandler(collector)
        logger.propagate = propagated
