"""Where a group's offsets are moved to."""

from __future__ import annotations

import pytest

from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.groups.reset_position import Bounds, Place, ResetPosition, new_offset, parse_position

NOW_MS = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("earliest", ResetPosition(Place.EARLIEST)),
        ("latest", ResetPosition(Place.LATEST)),
        ("current", ResetPosition(Place.CURRENT)),
        ("17", ResetPosition(Place.OFFSET, 17)),
        ("+3", ResetPosition(Place.SHIFT, 3)),
        ("-3", ResetPosition(Place.SHIFT, -3)),
        ("@1794817800000", ResetPosition(Place.TIME, 1_794_817_800_000)),
        ("15m", ResetPosition(Place.TIME, NOW_MS - 900_000)),
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
        (ResetPosition(Place.EARLIEST), 10),
        (ResetPosition(Place.LATEST), 20),
        (ResetPosition(Place.CURRENT), 15),
        (ResetPosition(Place.OFFSET, 12), 12),
        (ResetPosition(Place.OFFSET, 1), 10),
        (ResetPosition(Place.OFFSET, 99), 20),
        (ResetPosition(Place.SHIFT, 2), 17),
        (ResetPosition(Place.SHIFT, -99), 10),
        (ResetPosition(Place.TIME, 1), 13),
    ],
)
def test_offsets_stay_within_the_partition(position: ResetPosition, expected: int) -> None:
    assert new_offset(position, Bounds(10, 20, 15, at_time=13)) == expected


def test_without_a_commit_a_group_stands_at_the_end() -> None:
    bounds = Bounds(10, 20, None)
    assert new_offset(ResetPosition(Place.CURRENT), bounds) == 20
    assert new_offset(ResetPosition(Place.SHIFT, -4), bounds) == 16
    assert new_offset(ResetPosition(Place.TIME, 1), bounds) == 20
