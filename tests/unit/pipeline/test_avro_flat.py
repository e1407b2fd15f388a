"""Flat Avro records by compiled loops: the same as fastavro, for all types and broken bytes."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastavro", reason="the package fastavro is not installed: run `make setup`")

import fastavro
import pyarrow as pa

from ottla.pipeline.definitions.avro_flat import FlatReader, resolve

HEADER = b"\x00\x00\x00\x00\x07"
FIELDS: dict[str, tuple[Any, pa.DataType, st.SearchStrategy[Any]]] = {
    "whole": ("long", pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "small": ("int", pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "is": ("boolean", pa.bool_(), st.booleans()),
    "single": ("float", pa.float32(), st.floats(width=32, allow_nan=False)),
    "double": ("double", pa.float64(), st.floats(allow_nan=False)),
    "text": ("string", pa.string(), st.text(max_size=20)),
    "raw": ("bytes", pa.binary(), st.binary(max_size=20)),
    "two": (
        {"type": "fixed", "name": "Two", "size": 2},
        pa.binary(),
        st.binary(min_size=2, max_size=2),
    ),
    "kind": (
        {"type": "enum", "name": "Kind", "symbols": ["A", "B"]},
        pa.string(),
        st.sampled_from("AB"),
    ),
    "maybe": (["null", "string"], pa.string(), st.none() | st.text(max_size=5)),
    "other": (["long", "null"], pa.int64(), st.none() | st.integers(-5, 5)),
    "at": (
        {"type": "long", "logicalType": "timestamp-millis"},
        pa.timestamp("us", "UTC"),
        st.integers(0, 10**12).map(lambda ms: datetime.fromtimestamp(ms / 1_000, UTC)),
    ),
}
TYPES = {name: kind for name, (_, kind, _) in FIELDS.items()}


def record(*fields: dict[str, Any]) -> Any:
    return fastavro.parse_schema({"type": "record", "name": "R", "fields": list(fields)})


ALL = record(*({"name": name, "type": kind} for name, (kind, _, _) in FIELDS.items()))


def encoded(schema: Any, row: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, row)
    return HEADER + stream.getvalue()


def reader(writer: Any, own: Any, types: dict[str, pa.DataType]) -> FlatReader:
    found = resolve(writer, own, types)
    assert found is not None
    return found


def rows(flat: FlatReader, values: list[bytes]) -> list[dict[str, Any]]:
    columns, errors = flat.read(pa.array(values, pa.binary()), len(HEADER))
    assert not errors.any()
    return [
        dict(zip(flat.names, row, strict=True))
        for row in zip(*(column.to_pylist() for column in columns), strict=True)
    ]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.fixed_dictionaries({name: values for name, (_, _, values) in FIELDS.items()}),
        min_size=1,
        max_size=5,
    )
)
def test_columns_have_what_fastavro_reads(given_rows: list[dict[str, Any]]) -> None:
    values = [encoded(ALL, row) for row in given_rows]
    expected = [
        fastavro.schemaless_reader(io.BytesIO(value[len(HEADER) :]), ALL, None) for value in values
    ]
    assert rows(reader(ALL, ALL, TYPES), values) == expected


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=40))
def test_broken_bytes_are_errors_or_what_fastavro_reads(data: bytes) -> None:
    """Never a crash, and never a row that fastavro refuses."""
    own = record(
        {"name": "a", "type": "long"},
        {"name": "b", "type": ["null", "bytes"]},
        {"name": "c", "type": "boolean"},
    )
    types = {"a": pa.int64(), "b": pa.binary(), "c": pa.bool_()}
    columns, errors = reader(own, own, types).read(pa.array([HEADER + data]), len(HEADER))
    if errors[0]:
        return
    stream = io.BytesIO(data)
    expected: Any = fastavro.schemaless_reader(stream, own, None)
    assert stream.tell() == len(data)
    assert [column[0].as_py() for column in columns[1:]] == [expected["b"], expected["c"]]


def test_the_failing_field_is_named_by_its_number() -> None:
    own = record({"name": "a", "type": "long"}, {"name": "b", "type": "string"})
    flat = reader(own, own, {"a": pa.int64(), "b": pa.string()})
    good = encoded(own, {"a": 1, "b": "xy"})
    values = [good, HEADER, HEADER + b"\x02", good[:-1], good + b"z"]
    _, errors = flat.read(pa.array(values), len(HEADER))
    assert errors.tolist() == [0, 1, 2, 2, -1]


def test_a_later_schema_reads_earlier_records() -> None:
    writer = record({"name": "gone", "type": "string"}, {"name": "n", "type": "int"})
    own = record(
        {"name": "n", "type": "long"},
        {"name": "new", "type": ["null", "string"], "default": None},
        {"name": "shop", "type": "string", "default": "JFK"},
    )
    flat = reader(writer, own, {"n": pa.int64(), "new": pa.string(), "shop": pa.string()})
    assert rows(flat, [encoded(writer, {"gone": "x", "n": -3})]) == [
        {"n": -3, "new": None, "shop": "JFK"}
    ]


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ({"name": "a", "type": {"type": "array", "items": "long"}}, None),
        ({"name": "a", "type": "string"}, {"name": "a", "type": "long"}),
        ({"name": "a", "type": ["null", "long"]}, {"name": "a", "type": "long"}),
        ({"name": "a", "type": "long"}, {"name": "b", "type": "long"}),
        ({"name": "a", "type": ["null", "long", "string"]}, None),
    ],
)
def test_other_schemas_are_left_to_fastavro(
    written: dict[str, Any], wanted: dict[str, Any] | None
) -> None:
    own = record(wanted or written)
    types = {field["name"]: pa.int64() for field in own["fields"]}
    assert resolve(record(written), own, types) is None
