"""Where a group's offsets are moved to."""

from __future__ import annotations

import pytest

from ottla.cli.arguments.reset_position import (
    Bounds,
    ResetPlace,
    ResetPosition,
    new_offset,
    parse_position,
)
from ottla.cli.exit_codes import CommandError, ExitCode

NOW_MS = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("earliest", ResetPosition(ResetPlace.EARLIEST)),
        ("latest", ResetPosition(ResetPlace.LATEST)),
        ("current", ResetPosition(ResetPlace.CURRENT)),
        ("17", ResetPosition(ResetPlace.OFFSET, 17)),
        ("+3", ResetPosition(ResetPlace.SHIFT, 3)),
        ("-3", ResetPosition(ResetPlace.SHIFT, -3)),
        ("@1794817800000", ResetPosition(ResetPlace.TIME, 1_794_817_800_000)),
        ("15m", ResetPosition(ResetPlace.TIME, NOW_MS - 900_000)),
    ],
)
def test_positions_are_read(text: str, expected: ResetPosition) -> None:
    assert parse_position(text, now_ms=NOW_MS) == expected


def test_what_is_no_position_is_wrong_usage() -> None:
    with pytest.raises(CommandError) as refused:
        parse_position("somewhere", now_ms=NOW_MS)
    assert refused.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        (ResetPosition(ResetPlace.EARLIEST), 10),
        (ResetPosition(ResetPlace.LATEST), 20),
        (ResetPosition(ResetPlace.CURRENT), 15),
        (ResetPosition(ResetPlace.OFFSET, 12), 12),
        (ResetPosition(ResetPlace.OFFSET, 1), 10),
        (ResetPosition(ResetPlace.OFFSET, 99), 20),
        (ResetPosition(ResetPlace.SHIFT, 2), 17),
        (ResetPosition(ResetPlace.SHIFT, -99), 10),
        (ResetPosition(ResetPlace.TIME, 1), 13),
    ],
)
def test_offsets_stay_within_the_partition(position: ResetPosition, expected: int) -> None:
    assert new_offset(position, Bounds(10, 20, 15, at_time=13)) == expected


def test_without_a_commit_a_group_stands_at_the_end() -> None:
    bounds = Bounds(10, 20, None)
    assert new_offset(ResetPosition(ResetPlace.CURRENT), bounds) == 20
    assert new_offset(ResetPosition(ResetPlace.SHIFT, -4), bounds) == 16
    assert new_offset(ResetPosition(ResetPlace.TIME, 1), bounds) == 20
