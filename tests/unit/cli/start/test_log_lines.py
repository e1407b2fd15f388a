from __future__ import annotations

import json
import logging
import sys

from ottla.cli.start.log_lines import JsonLines


def _line(message: str, *arguments: object, **more: object) -> dict[str, object]:
    record = logging.LogRecord(
        "ottla.broker", logging.WARNING, "file.py", 1, message, arguments, None
    )
    record.created = 1_700_000_000.25
    for name, value in more.items():
        setattr(record, name, value)
    found: dict[str, object] = json.loads(JsonLines(node_id=3).format(record))
    return found


def test_a_line_is_one_object_in_utc() -> None:
    assert _line("closing the connection from %s", "10.0.0.9") == {
        "time": "2023-11-14T22:13:20.250+00:00",
        "level": "WARNING",
        "logger": "ottla.broker",
        "message": "closing the connection from 10.0.0.9",
        "node": 3,
    }


def test_a_message_with_line_breaks_stays_one_line() -> None:
    record = logging.LogRecord("x", logging.INFO, "file.py", 1, "a\nb \u2603", None, None)
    assert "\n" not in JsonLines(node_id=1).format(record)


def test_an_exception_is_a_field() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        found = _line("failed", exc_info=sys.exc_info())
    assert "ValueError: broken" in str(found["exception"])
