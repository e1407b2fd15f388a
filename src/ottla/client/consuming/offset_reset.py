"""`auto.offset.reset`: where to start without a position, or after a position that does not exist.

`by_duration:P7D` starts at the records of the last seven days (KIP-1106).
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

LATEST_TIMESTAMP: Final = -1
EARLIEST_TIMESTAMP: Final = -2

# ISO 8601 as Java's Duration reads it: days, hours, minutes and seconds.
_DURATION: Final = re.compile(
    r"P(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d+)?)S)?)?",
    re.IGNORECASE,
)
_MS: Final = {"days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1_000}


class ResetKind(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"
    BY_DURATION = "by_duration"


class OffsetReset(NamedTuple):
    kind: ResetKind
    duration_ms: int = 0

    def timestamp(self, now_ms: int) -> int:
        """The timestamp, or special value, to ask the leader for."""
        assert self.kind is not ResetKind.NONE
        if self.kind is ResetKind.EARLIEST:
            return EARLIEST_TIMESTAMP
        if self.kind is ResetKind.LATEST:
            return LATEST_TIMESTAMP
        return max(now_ms - self.duration_ms, 0)


EARLIEST: Final = OffsetReset(ResetKind.EARLIEST)
LATEST: Final = OffsetReset(ResetKind.LATEST)
NO_RESET: Final = OffsetReset(ResetKind.NONE)


def offset_reset(value: object) -> OffsetReset:
    """Reads the property. Raises ValueError."""
    if isinstance(value, OffsetReset):
        return value
    text = str(value).strip()
    kind, colon, duration = text.partition(":")
    if colon and kind.lower() == "by_duration":
        return OffsetReset(ResetKind.BY_DURATION, _milliseconds(duration))
    # librdkafka's and old names for the same.
    named = {"smallest": "earliest", "beginning": "earliest", "largest": "latest", "end": "latest"}
    lower = named.get(text.lower(), text.lower())
    if lower not in ("earliest", "latest", "none"):
        raise ValueError("it must be earliest, latest, none or by_duration:PnDTnHnMnS")
    return OffsetReset(ResetKind(lower))


def _milliseconds(text: str) -> int:
    found = _DURATION.fullmatch(text)
    parts = (
        {} if found is None else {name: part for name, part in found.groupdict().items() if part}
    )
    if not parts:
        raise ValueError(f"{text!r} is not a duration, such as PT1H or P7D")
    return round(sum(float(part) * _MS[name] for name, part in parts.items()))
