"""Avro without Spark: schemas as Spark's types, records read, written and refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from ottla.pipeline import Avro
from ottla.pipeline.definitions.avro_columns import read_record, write_record
from ottla.pipeline.definitions.avro_schema import parse_record, spark_type
from ottla.pipeline.definitions.errors import DefinitionError, UnwritableRowError

pytest.importorskip("fastavro", reason="the package fastavro is not installed: run `make setup`")

FIELDS = {
    "at": {"type": "long", "logicalType": "timestamp-millis"},
    "day": {"type": "int", "logicalType": "date"},
    "price": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    "kind": {"type": "enum", "name": "Kind", "symbols": ["OLD", "NEW"]},
    "before": ["null", "Kind"],
    "items": {"type": "array", "items": "string"},
    "counts": {"type": "map", "values": "long"},
    "place": {"type": "record", "name": "Place", "fields": [{"name": "town", "type": "string"}]},
    "raw": ["null", {"type": "fixed", "name": "Two", "size": 2}],
    "weight": "double",
}
ROW = {
    "at": datetime(2026, 1, 2, 3, 4, 5, 6_000, UTC),
    "day": date(2026, 1, 2),
    "price": Decimal("12.34"),
    "kind": "NEW",
    "before": None,
    "items": ["a", "b"],
    "counts": {"x": 7},
    "place": {"town": "Oranienburg"},
    "raw": b"ab",
    "weight": 0.5,
}


def schema(**fields: Any) -> str:
    listed = [{"name": name, "type": kind} for name, kind in fields.items()]
    return json.dumps({"type": "record", "name": "Order", "fields": listed})


def test_a_schema_is_a_type_of_spark() -> None:
    assert spark_type(parse_record(schema(**FIELDS))).simpleString() == (
        "struct<at:timestamp,day:date,price:decimal(9,2),kind:string,before:string,"
        "items:array<string>,counts:map<string,bigint>,place:struct<town:string>,raw:binary,"
        "weight:double>"
    )


def test_a_record_that_is_written_is_read_again() -> None:
    record = parse_record(schema(**FIELDS))
    assert read_record(write_record(ROW, record), record) == (ROW, None)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "is null"),
        (b"", "is not an Avro record Order: EOFError"),
        (b"\x04a", "is not an Avro record Order: Expected 2 bytes, read 1"),
        (b"\x02\xff", "is not an Avro record Order: 'utf-8' codec can't decode"),
        (b"\x02ab", "is not an Avro record Order: 1 bytes are left"),
        (b"\x01", "is not an Avro record Order: "),
        (b"\xff" * 20, "is not an Avro record Order: "),
    ],
)
def test_what_is_no_record_has_a_reason(value: bytes | None, reason: str) -> None:
    fields, refusal = read_record(value, parse_record(schema(name="string")))
    assert fields is None
    assert refusal is not None
    assert refusal.startswith(reason)


def test_a_row_that_does_not_fit_is_named() -> None:
    with pytest.raises(UnwritableRowError, match=r"does not fit the Avro record Order.*'seven'"):
        write_record({"number": "seven"}, parse_record(schema(number="int")))


MISTAKES = {
    "no JSON": "an invalid schema",
    schema(at="moment"): "an invalid schema",
    '"string"': "a schema that is not a record",
    schema(x=["string", "int"]): "a union of 2 types",
    schema(x=["null"]): "a union of 0 types",
    schema(x={"type": "int", "logicalType": "time-millis"}): "of type time-millis",
    schema(x=["null", "Order"]): "the recursive record Order",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_schema_that_spark_cannot_have_is_refused(text: str) -> None:
    with pytest.raises(DefinitionError, match=MISTAKES[text]):
        spark_type(parse_record(text))


def test_rows_without_a_field_are_refused_before_anything_runs() -> None:
    class Frame:
        columns = ("number",)

    with pytest.raises(DefinitionError, match="has the field shop, but the rows have only number"):
        Avro(schema(number="int", shop="string")).render(Frame())  # type: ignore[arg-type]
