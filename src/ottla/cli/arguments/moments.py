"""Points in time on the command line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

GRAMMAR: Final = (
    "a time such as 2026-11-16T08:30 (UTC unless it has an offset), an age such as 90s, 15m, 2h "
    "or 7d, or @ and milliseconds since 1970"
)
TIMESTAMP_MAX: Final = 2**63 - 1
_AGE: Final = re.compile(r"(\d+)(ms|s|m|h|d)")
_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def parse_moment(text: str, *, now_ms: int) -> int:
    """Milliseconds since 1970. Raises ValueError, whose message names the accepted forms."""
    timestamp_ms = _parse(text, now_ms)
    if not 0 <= timestamp_ms <= TIMESTAMP_MAX:
        raise ValueError(f"{text!r} is out of range; Kafka's timestamps begin with 1970")
    return timestamp_ms


def _parse(text: str, now_ms: int) -> int:
    if age := _AGE.fullmatch(text):
        return now_ms - int(age[1]) * _UNITS_MS[age[2]]
    if text.startswith("@") and text[1:].isdecimal():
        return int(text[1:])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a time: write {GRAMMAR}") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)
