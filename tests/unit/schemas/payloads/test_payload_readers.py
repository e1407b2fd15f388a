"""What each type's reader accepts, and hostile bytes."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.schemas import InvalidSchemaError, ResolvedReference, SchemaSource, SchemaType
from ottla.schemas.errors import InvalidPayloadError
from ottla.schemas.payloads.reader import PayloadReader, payload_reader

EVERYTHING = {
    "type": "record",
    "name": "Everything",
    "namespace": "a.b",
    "fields": [
        {"name": "null", "type": "null"},
        {"name": "flag", "type": "boolean"},
        {"name": "int", "type": "int"},
        {"name": "long", "type": "long"},
        {"name": "float", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "bytes", "type": "bytes"},
        {"name": "text", "type": "string"},
        {"name": "fixed", "type": {"type": "fixed", "name": "Four", "size": 4}},
        {"name": "enum", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}},
        {"name": "array", "type": {"type": "array", "items": "long"}},
        {"name": "map", "type": {"type": "map", "values": ["null", "string"]}},
        {"name": "next", "type": ["null", "Everything"]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    ],
}
VALUES = st.fixed_dictionaries(
    {
        "null": st.none(),
        "flag": st.booleans(),
        "int": st.integers(-(2**31), 2**31 - 1),
        "long": st.integers(-(2**63), 2**63 - 1),
        "float": st.floats(width=32, allow_nan=False),
        "double": st.floats(allow_nan=False),
        "bytes": st.binary(max_size=200),
        "text": st.text(max_size=100),
        "fixed": st.binary(min_size=4, max_size=4),
        "enum": st.sampled_from("AB"),
        "array": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
        "map": st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=5), max_size=3),
        "next": st.none(),
        "day": st.integers(0, 100_000),
    }
)
PROTO = """
syntax = "proto2";
package p;
message A { required string s = 1; message B { optional int32 i = 1; } optional A a = 2; }
message C { }
"""


def avro(schema: Any, *references: ResolvedReference) -> PayloadReader:
    return payload_reader(SchemaSource(SchemaType.AVRO, json.dumps(schema), references))


def accepts(reader: PayloadReader, data: bytes, indexes: bytes | None = None) -> bool:
    try:
        reader.check(data, indexes)
    except InvalidPayloadError:
        return False
    return True


READER = avro(EVERYTHING)
PARSED = fastavro.parse_schema(EVERYTHING)


def encoded(value: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    fastavro.schemaless_writer(buffer, PARSED, value)
    return buffer.getvalue()


@given(VALUES, VALUES)
def test_what_another_writer_wrote_is_accepted(
    value: dict[str, Any], inner: dict[str, Any]
) -> None:
    data = encoded({**value, "next": inner})
    assert accepts(READER, data)
    assert not accepts(READER, data[:-1])
    assert not accepts(READER, data + b"\x00")


@given(st.binary(max_size=300))
def test_any_bytes_are_accepted_or_refused(data: bytes) -> None:
    if accepts(READER, data):
        fastavro.schemaless_reader(io.BytesIO(data), PARSED, None)


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ("int", b"\xff\xff\xff\xff\x1f"),
        ("long", b"\xff" * 10 + b"\x01"),
        ("boolean", b"\x02"),
        ("string", b"\x02\xff"),
        ("string", b"\x01x"),
        ("bytes", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\x02"),
        (["null", "int"], b"\x04"),
        ({"type": "array", "items": "int"}, b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
        ({"type": "map", "values": "int"}, b"\x02\x02a"),
        ({"type": "array", "items": "null"}, b"\x02" * 10),
    ],
)
def test_broken_avro_is_refused(schema: Any, data: bytes) -> None:
    assert not accepts(avro(schema), data)


def test_items_without_bytes_are_not_walked() -> None:
    """Two to the power of 62 nulls."""
    data = b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x00"
    empty = {"type": "record", "name": "N", "fields": [{"name": "n", "type": "null"}]}
    for items in ("null", empty, {"type": "fixed", "name": "F", "size": 0}):
        assert accepts(avro({"type": "array", "items": items}), data)


def test_deep_nesting_is_refused() -> None:
    recursive = {"type": "record", "name": "R", "fields": [{"name": "r", "type": ["null", "R"]}]}
    assert accepts(avro(recursive), b"\x02" * 50 + b"\x00")
    assert not accepts(avro(recursive), b"\x02" * 100_000 + b"\x00")


def test_the_place_of_what_is_wrong_is_named() -> None:
    schema = {
        "type": "record",
        "name": "Order",
        "fields": [
            {
                "name": "to",
                "type": {
                    "type": "record",
                    "name": "To",
                    "fields": [{"name": "city", "type": "string"}],
                },
            }
        ],
    }
    with pytest.raises(InvalidPayloadError, match="to: city: a string is not UTF-8"):
        avro(schema).check(b"\x02\xff", None)
    assert avro(schema).record_name(b"", None) == "Order"
    assert avro("int").record_name(b"", None) is None


def test_a_reference_defines_types() -> None:
    city = ResolvedReference("City", '{"type": "enum", "name": "City", "symbols": ["A", "B"]}')
    reader = avro({"type": "array", "items": "City"}, city)
    assert accepts(reader, b"\x02\x02\x00")
    assert not accepts(reader, b"\x02\x04\x00")


def test_json_is_validated_and_nothing_is_fetched() -> None:
    schema = '{"title": "T", "properties": {"id": {"type": "integer"}}, "required": ["id"]}'
    reader = payload_reader(SchemaSource(SchemaType.JSON, schema))
    assert accepts(reader, b'{"id": 1}')
    assert reader.record_name(b"", None) == "T"
    for bad in (b"{}", b'{"id": NaN}', b"[" * 100_000, b"\xff", b'{"id": "x"}', b"", b"\x7b\x00"):
        assert not accepts(reader, bad) or bad == b"\x7b\x00"
    remote = '{"$ref": "http://127.0.0.1:9/schema.json"}'
    with pytest.raises(InvalidSchemaError):
        payload_reader(SchemaSource(SchemaType.JSON, remote))


def test_protobuf_is_checked_by_the_message_that_the_indexes_name() -> None:
    reader = payload_reader(SchemaSource(SchemaType.PROTOBUF, PROTO))
    assert reader.record_name(b"\x00", None) == "p.A"
    assert reader.record_name(b"\x04\x00\x00", None) == "p.A.B"
    assert reader.record_name(b"", b"\x02\x02") == "p.C"
    assert accepts(reader, b"\x00\x0a\x03abc")
    assert accepts(reader, b"\x0a\x03abc", b"\x00")
    assert accepts(reader, b"\x02\x02")
    with pytest.raises(InvalidPayloadError, match="required fields are missing: s"):
        reader.check(b"\x00", None)
    hostile = (b"", b"\x02\x04", b"\x02\x01", b"\x00\x0a\x04abc", b"\x00" + b"\x12\xff\x7f" * 5_000)
    for data in (*hostile, b"\x00" + b"\x0b" * 100_000):
        assert not accepts(reader, data)
