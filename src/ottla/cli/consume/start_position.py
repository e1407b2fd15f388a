"""Positions of `ottla consume --from` and `ottla topics delete-records --before`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from ottla.cli.arguments.moments import parse_moment
from ottla.cli.exit_codes import CommandError, ExitCode


class Anchor(Enum):
    """The meaning of a position's number."""

    BEGINNING = auto()
    END = auto()
    OFFSET = auto()
    TIME = auto()


@dataclass(frozen=True, slots=True)
class StartPosition:
    """`number` is an offset, milliseconds since 1970, or how many records before the end."""

    anchor: Anchor
    number: int = 0


BEGINNING: Final = StartPosition(Anchor.BEGINNING)


@dataclass(frozen=True, slots=True)
class PartitionBounds:
    """The earliest and latest offset of a partition, and the first offset of the wanted time, if
    there is one."""

    earliest: int
    latest: int
    at_time: int | None = None


def parse_start(text: str, *, now_ms: int, option: str = "--from") -> StartPosition:
    if text == "beginning":
        return BEGINNING
    if text == "end":
        return StartPosition(Anchor.END)
    if text.isdecimal():
        return StartPosition(Anchor.OFFSET, int(text))
    if text.startswith("-") and text[1:].isdecimal():
        return StartPosition(Anchor.END, int(text[1:]))
    try:
        return StartPosition(Anchor.TIME, parse_moment(text, now_ms=now_ms))
    except ValueError as error:
        raise CommandError(
            f"{option} {text!r} is not a position: {error}.",
            "Or write beginning, end, an offset, or -N for N records before the end.",
            exit_code=ExitCode.USAGE,
        ) from None


def resolve_start(start: StartPosition, bounds: PartitionBounds) -> int:
    """The first offset to read, limited to the partition's bounds."""
    if start.anchor is Anchor.BEGINNING:
        return bounds.earliest
    if start.anchor is Anchor.TIME:
        return bounds.latest if bounds.at_time is None else bounds.at_time
    offset = start.number if start.anchor is Anchor.OFFSET else bounds.latest - start.number
    return min(max(offset, bounds.earliest), bounds.latest)


def out_of_range_notices(start: StartPosition, bounds: Mapping[int, PartitionBounds]) -> list[str]:
    """Notices about partitions that do not contain the offset."""
    if start.anchor is not Anchor.OFFSET:
        return []
    notices = []
    for partition, bound in bounds.items():
        if start.number < bound.earliest:
            notices.append(f"Partition {partition} begins at offset {bound.earliest}.")
        elif start.number > bound.latest:
            notices.append(f"Partition {partition} ends before offset {bound.latest}.")
    return notices
