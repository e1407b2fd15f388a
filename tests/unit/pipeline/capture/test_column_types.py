"""Texts of PostgreSQL become columns of Arrow; an error says how to read what Spark cannot have."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from ottla.pipeline.capture.column_types import TableColumn
from ottla.pipeline.capture.errors import CaptureError

_NUMERIC_10_2 = (10 << 16 | 2) + 4


@pytest.mark.parametrize(
    ("type_name", "modifier", "texts", "spark", "expected"),
    [
        ("int2", -1, [b"-3", None], "smallint", [-3, None]),
        ("int8", -1, [b"9223372036854775807"], "bigint", [2**63 - 1]),
        ("bool", -1, [b"t", b"f", None], "boolean", [True, False, None]),
        ("float8", -1, [b"Infinity", b"0.1"], "double", [float("inf"), 0.1]),
        ("numeric", _NUMERIC_10_2, [b"1.50"], "decimal(10,2)", [Decimal("1.50")]),
        ("numeric", -1, [b"1e400"], "string", ["1e400"]),
        ("numeric", (60 << 16 | 2) + 4, [b"1"], "string", ["1"]),
        ("date", -1, [b"2024-02-29"], "date", [dt.date(2024, 2, 29)]),
        ("timestamp", -1, [b"2024-02-29 12:00:00.5"], "timestamp_ntz", None),
        ("bytea", -1, [b"\\x00ff", None], "binary", [b"\0\xff", None]),
        ("uuid", -1, [b"a0eebc99"], "string", ["a0eebc99"]),
        ("text", -1, ["Zürich".encode()], "string", ["Zürich"]),
    ],
)
def test_values(
    type_name: str, modifier: int, texts: list[bytes | None], spark: str, expected: Any
) -> None:
    column = TableColumn("x", type_name, modifier)
    assert column.spark_type == spark
    found = column.array(texts)
    assert found.type == column.arrow_type
    if expected is not None:
        assert found.to_pylist() == expected
    else:
        assert found.to_pylist() == [dt.datetime(2024, 2, 29, 12, 0, 0, 500_000)]


def test_times_with_a_zone_are_read_in_utc() -> None:
    (found,) = TableColumn("x", "timestamptz", -1).array([b"2024-02-29 12:00:00+00"]).to_pylist()
    assert found == dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("type_name", "modifier", "text"),
    [("date", -1, b"infinity"), ("numeric", _NUMERIC_10_2, b"NaN"), ("bytea", -1, b"x")],
)
def test_what_spark_cannot_have_is_refused(type_name: str, modifier: int, text: bytes) -> None:
    with pytest.raises(CaptureError, match="read the column as text"):
        TableColumn("x", type_name, modifier).array([text])
