"""Times on the command line."""

import pytest

from ottla.cli.arguments.moments import parse_moment

NOW_MS = 1_794_817_800_000


@pytest.mark.parametrize(
    ("text", "timestamp_ms"),
    [
        ("2026-11-16T08:30", NOW_MS),
        ("2026-11-16T08:30:00.250", NOW_MS + 250),
        ("2026-11-16T08:30Z", NOW_MS),
        ("2026-11-16 10:30+02:00", NOW_MS),
        ("2026-11-16", NOW_MS - (8 * 60 + 30) * 60_000),
        ("1970-01-01", 0),
        ("@1794817800000", NOW_MS),
        ("250ms", NOW_MS - 250),
        ("90s", NOW_MS - 90_000),
        ("15m", NOW_MS - 900_000),
        ("2h", NOW_MS - 7_200_000),
        ("7d", NOW_MS - 604_800_000),
    ],
)
def test_times_and_ages_become_milliseconds(text: str, timestamp_ms: int) -> None:
    assert parse_moment(text, now_ms=NOW_MS) == timestamp_ms


@pytest.mark.parametrize("text", ["", "yesterday", "@", "@x", "15", "15 m", "-3m", "2026-13-01"])
def test_an_invalid_time_is_refused_with_the_valid_forms(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time: write a time such as"):
        parse_moment(text, now_ms=NOW_MS)


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59", "99999d", "@9223372036854775808"])
def test_times_that_kafka_cannot_hold_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="timestamps begin with 1970"):
        parse_moment(text, now_ms=NOW_MS)
