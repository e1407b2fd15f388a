"""What clients choose stays within its line of the log."""

from __future__ import annotations

import logging

import pytest

from ottla.runtime.log_text import LogFormatter, escape_unprintable

FORGED = "g\n2027-01-01 12:00:00,000 INFO    User:admin\r\x1b[2J\x85\u2028\x00"


def formatted(message: str, *arguments: object, error: BaseException | None = None) -> str:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("ottla", logging.INFO, "file", 1, message, arguments, info)
    return LogFormatter("%(levelname)-7s %(message)s").format(record)


def test_a_name_cannot_begin_a_line() -> None:
    line = formatted("group %s: rebalances", FORGED)
    assert line.isprintable()
    assert line == (
        r"INFO    group g\n2027-01-01 12:00:00,000 INFO    User:admin\r\x1b[2J\x85\u2028\x00"
        ": rebalances"
    )


def test_the_lines_of_a_traceback_stay_lines() -> None:
    try:
        raise ValueError(f"cannot read {FORGED}")
    except ValueError as error:
        lines = formatted("closing", error=error).split("\n")
    assert lines[0] == "INFO    closing"
    assert lines[1] == "Traceback (most recent call last):"
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("text", ["", "orders", "größe 測試", "a\\nb"])
def test_printable_text_is_kept(text: str) -> None:
    assert escape_unprintable(text) is text


def test_what_is_kept_is_not_escaped() -> None:
    assert escape_unprintable("a\n\tb", kept="\n") == "a\n\\tb"
    assert escape_unprintable("\udc80") == r"\udc80"
