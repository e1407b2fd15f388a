"""Where a group's offsets are moved to: `--to` of `ottla groups reset`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from ottla.cli.arguments.moments import parse_moment
from ottla.cli.exit_codes import CommandError, ExitCode


class ResetPlace(Enum):
    EARLIEST = auto()
    LATEST = auto()
    CURRENT = auto()
    OFFSET = auto()
    SHIFT = auto()
    TIME = auto()


@dataclass(frozen=True, slots=True)
class ResetPosition:
    """`number` is an offset, a distance, or milliseconds since 1970."""

    place: ResetPlace
    number: int = 0


class Bounds(NamedTuple):
    """What is known of a partition: its records, the group's offset, the record of a time."""

    earliest: int
    latest: int
    committed: int | None
    at_time: int | None = None


_WORDS = {
    "earliest": ResetPlace.EARLIEST,
    "latest": ResetPlace.LATEST,
    "current": ResetPlace.CURRENT,
}


def parse_position(text: str, *, now_ms: int) -> ResetPosition:
    if text in _WORDS:
        return ResetPosition(_WORDS[text])
    if text.isdecimal():
        return ResetPosition(ResetPlace.OFFSET, int(text))
    if text[:1] in ("+", "-") and text[1:].isdecimal():
        return ResetPosition(ResetPlace.SHIFT, int(text))
    try:
        return ResetPosition(ResetPlace.TIME, parse_moment(text, now_ms=now_ms))
    except ValueError as error:
        raise CommandError(
            f"--to {text!r} is not a position: {error}.",
            "Or write earliest, latest, current, an offset, or +N or -N.",
            exit_code=ExitCode.USAGE,
        ) from None


def new_offset(position: ResetPosition, bounds: Bounds) -> int:
    """Never outside of the partition."""
    committed = bounds.latest if bounds.committed is None else bounds.committed
    match position.place:
        case ResetPlace.EARLIEST:
            offset = bounds.earliest
        case ResetPlace.LATEST:
            offset = bounds.latest
        case ResetPlace.CURRENT:
            offset = committed
        case ResetPlace.OFFSET:
            offset = position.number
        case ResetPlace.SHIFT:
            offset = committed + position.number
        case ResetPlace.TIME:
            offset = bounds.latest if bounds.at_time is None else bounds.at_time
    return min(max(offset, bounds.earliest), bounds.latest)
