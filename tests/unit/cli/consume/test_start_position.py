"""Where reading begins."""

import pytest

from ottla.cli.consume.start_position import (
    PartitionBounds,
    out_of_range_notices,
    parse_start,
    resolve_start,
)
from ottla.cli.exit_codes import CommandError, ExitCode

NOW_MS = 1_794_817_800_000
BOUNDS = PartitionBounds(earliest=100, latest=200, at_time=150)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("beginning", 100),
        ("end", 200),
        ("120", 120),
        ("0", 100),
        ("999", 200),
        ("-10", 190),
        ("-0", 200),
        ("-1000", 100),
        ("15m", 150),
        ("2026-11-16T08:30", 150),
    ],
)
def test_every_way_to_begin_ends_up_within_the_partition(text: str, offset: int) -> None:
    assert resolve_start(parse_start(text, now_ms=NOW_MS), BOUNDS) == offset


def test_a_time_after_all_records_is_the_end() -> None:
    start = parse_start("1s", now_ms=NOW_MS)
    assert resolve_start(start, PartitionBounds(earliest=0, latest=7)) == 7


def test_an_offset_out_of_range_is_reported() -> None:
    bounds = {0: BOUNDS, 1: PartitionBounds(earliest=0, latest=50)}
    assert out_of_range_notices(parse_start("70", now_ms=0), bounds) == [
        "Partition 0 begins at offset 100.",
        "Partition 1 ends before offset 50.",
    ]
    assert out_of_range_notices(parse_start("-500", now_ms=0), bounds) == []


def test_what_is_no_place_is_wrong_usage() -> None:
    with pytest.raises(CommandError, match="--from 'start' is not a position") as raised:
        parse_start("start", now_ms=NOW_MS)
    assert raised.value.exit_code == ExitCode.USAGE
    assert "write beginning, end, an offset" in raised.value.hints[0]
