"""Lines of one place in the code are limited, and what was left out is counted."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest

from ottla.runtime.log_limit import LINES_MAX, WINDOW_SECONDS, LogLimit
from ottla.simulation.seams.clock import SimulatedClock


class Limited:
    """A logger with a handler of its own, and what came out of it."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        self.limit = LogLimit(self.clock)
        self._stream = io.StringIO()
        self.handler = logging.StreamHandler(self._stream)
        self.handler.addFilter(self.limit)
        self.logger = logging.getLogger("tests.limited")
        self.logger.propagate = False
        self.logger.setLevel(logging.DEBUG)
        self.logger.addHandler(self.handler)

    def refuse(self, count: int) -> None:
        for number in range(count):
            self.logger.info("refused %d", number)

    @property
    def lines(self) -> list[str]:
        return self._stream.getvalue().splitlines()


@pytest.fixture
def limited() -> Iterator[Limited]:
    limited = Limited()
    yield limited
    limited.logger.removeHandler(limited.handler)


def test_lines_beyond_the_limit_are_counted_by_the_next_report(limited: Limited) -> None:
    limited.refuse(1_244)
    assert len(limited.lines) == LINES_MAX
    limited.clock.advance(WINDOW_SECONDS)
    limited.limit.report()
    assert limited.lines[LINES_MAX:] == [
        "... and 1,234 more in the last 10 s, the last one: refused 1243"
    ]
    limited.limit.report()
    assert len(limited.lines) == LINES_MAX + 1


def test_a_new_window_begins_with_the_count_of_the_last_one(limited: Limited) -> None:
    limited.refuse(LINES_MAX + 1)
    limited.clock.advance(WINDOW_SECONDS + 5)
    limited.refuse(LINES_MAX + 1)
    assert len(limited.lines) == 2 * LINES_MAX + 1
    assert limited.lines[LINES_MAX].startswith("... and 1 more in the last 15 s")


def test_a_few_lines_and_those_of_other_places_pass(limited: Limited) -> None:
    limited.refuse(LINES_MAX + 5)
    limited.logger.info("another place")
    assert limited.lines[-1] == "another place"
    limited.clock.advance(WINDOW_SECONDS)
    limited.limit.report()
    limited.refuse(1)
    assert limited.lines[-1] == "refused 0"


def test_debug_lines_are_not_limited(limited: Limited) -> None:
    for number in range(5 * LINES_MAX):
        limited.logger.debug("%d", number)
    assert len(limited.lines) == 5 * LINES_MAX


def test_what_a_peer_sent_is_quoted_up_to_a_length(limited: Limited) -> None:
    for _ in range(LINES_MAX + 1):
        limited.logger.info("%s", "x" * 10_000)
    limited.limit.report()
    assert len(limited.lines[-1]) < 500
