"""Formats single values for tables and text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

NOTHING: Final = "-"


def number(value: int | None) -> str:
    """An offset, an epoch or an id; in Kafka -1 stands for none."""
    return NOTHING if value is None or value == -1 else str(value)


def count(amount: int, name: str, names: str | None = None) -> str:
    return f"{amount:,} {name if amount == 1 else names or name + 's'}"


def size(amount_in_bytes: float) -> str:
    """A size with few digits: 17 bytes, 1.5 kB, 230 MB."""
    if amount_in_bytes < 1_000:
        return count(round(amount_in_bytes), "byte")
    for unit in ("kB", "MB", "GB"):
        amount_in_bytes /= 1_000
        if amount_in_bytes < 999.5 or unit == "GB":
            break
    return (
        f"{amount_in_bytes:.1f} {unit}"
        if amount_in_bytes < 99.95
        else f"{amount_in_bytes:,.0f} {unit}"
    )


def moment(timestamp_ms: int | None) -> str:
    """A timestamp in UTC, or the bare number if it is out of the calendar's range."""
    if timestamp_ms is None or timestamp_ms == -1:
        return NOTHING
    try:
        at = datetime.fromtimestamp(timestamp_ms // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return str(timestamp_ms)
    return f"{at:%Y-%m-%d %H:%M:%S}.{timestamp_ms % 1000:03d}"
