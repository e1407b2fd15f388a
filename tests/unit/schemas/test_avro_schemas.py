"""Avro: what parses, what it is written as, and which changes break readers. The cases are those of
Avro's specification."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ottla.schemas import InvalidSchemaError, ResolvedReference
from ottla.schemas.avro.schema import AvroSchema


def parse(document: Any, *references: ResolvedReference) -> AvroSchema:
    return AvroSchema.parse(json.dumps(document), references, is_strict=True)


def record(*fields: Any, name: str = "R", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, type_: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **more}


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ('"string"', '"string"'),
        ("string", '"string"'),
        ('{"type": "int"}', '"int"'),
        (
            '{"type":"long","logicalType":"timestamp-millis"}',
            '{"type":"long","logicalType":"timestamp-millis"}',
        ),
        (
            '{"fields":[{"type":"int","name":"a"}],"name":"x.R","type":"record"}',
            '{"type":"record","name":"R","namespace":"x","fields":[{"name":"a","type":"int"}]}',
        ),
        (
            '{"type":"record","name":"R","namespace":"x","fields":[{"name":"next",'
            '"type":["null","x.R"],"default":null}]}',
            '{"type":"record","name":"R","namespace":"x","fields":[{"name":"next",'
            '"type":["null","R"],"default":null}]}',
        ),
        (
            '{"name":"E","type":"enum","default":"A","symbols":["A","B"],"doc":"d","p":1}',
            '{"type":"enum","name":"E","doc":"d","symbols":["A","B"],"default":"A","p":1}',
        ),
    ],
)
def test_the_canonical_form_has_one_order_and_resolved_names(given: str, canonical: str) -> None:
    assert AvroSchema.parse(given, is_strict=True).canonical == canonical


def test_the_normal_form_has_full_names_and_sorted_properties() -> None:
    schema = parse(
        record(field("a", {"type": "fixed", "name": "F", "size": 2}), namespace="x", z=1, b=2)
    )
    assert schema.normal == (
        '{"name":"x.R","type":"record","fields":[{"name":"a","type":'
        '{"name":"x.F","type":"fixed","size":2}}],"b":2,"z":1}'
    )


def test_references_are_named_and_written_out_only_on_request() -> None:
    other = ResolvedReference("x.Other", '{"type":"record","name":"x.Other","fields":[]}')
    schema = parse(record(field("o", "x.Other")), other)
    assert '"type":"x.Other"' in schema.canonical
    assert '"fields":[]' in schema.formatted("resolved")


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("strin", "is not defined"),
        ({"type": "record", "name": "R"}, "no list of fields"),
        (record(field("a", "int"), field("a", "int")), "twice"),
        (record(field("1a", "int")), "not an Avro name"),
        (record(field("a", "int", default="x")), "not a value of its type"),
        (record(field("a", "bytes", default="\u0100")), "not a value of its type"),
        (record(field("a", "int", default=2**31)), "not a value of its type"),
        ([["int"]], "another union"),
        (["int", "int"], "twice"),
        ({"type": "enum", "name": "E", "symbols": ["A", "A"]}, "twice"),
        ({"type": "fixed", "name": "F", "size": -1}, "size"),
        (record(field("a", record(name="R"))), "defined twice"),
        (7, "not an Avro type"),
    ],
)
def test_an_invalid_schema_is_refused_with_its_reason(document: Any, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason):
        parse(document)


def test_nesting_is_limited() -> None:
    with pytest.raises(InvalidSchemaError, match="deep"):
        AvroSchema.parse('{"type":"array","items":' * 5000 + '"int"' + "}" * 5000)


ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}
WIDE = {"type": "enum", "name": "E", "symbols": ["A", "B"]}


@pytest.mark.parametrize(
    ("reader", "writer", "kinds"),
    [
        ("int", "int", []),
        ("long", "int", []),
        ("int", "long", ["TYPE_MISMATCH"]),
        ("double", "float", []),
        ("float", "double", ["TYPE_MISMATCH"]),
        ("bytes", "string", []),
        ("string", "bytes", []),
        (["null", "int"], "int", []),
        ("int", ["null", "int"], ["TYPE_MISMATCH"]),
        ("long", ["int", "long"], []),
        (["int"], ["int", "string"], ["MISSING_UNION_BRANCH"]),
        (["int", "string"], ["int"], []),
        (["null", "long"], ["null", "int"], []),
        ({"type": "array", "items": "long"}, {"type": "array", "items": "int"}, []),
        (
            {"type": "map", "values": "int"},
            {"type": "map", "values": "string"},
            ["TYPE_MISMATCH"],
        ),
        (ENUM, WIDE, ["MISSING_ENUM_SYMBOLS"]),
        (WIDE, ENUM, []),
        ({**ENUM, "default": "A"}, WIDE, []),
        (
            {"type": "fixed", "name": "F", "size": 4},
            {"type": "fixed", "name": "F", "size": 8},
            ["FIXED_SIZE_MISMATCH"],
        ),
        (record(field("a", "int")), record(), ["READER_FIELD_MISSING_DEFAULT_VALUE"]),
        (record(field("a", "int", default=0)), record(), []),
        (record(), record(field("a", "int")), []),
        (record(field("b", "int", aliases=["a"])), record(field("a", "int")), []),
        (record(name="A"), record(name="B"), ["NAME_MISMATCH"]),
        (record(name="A", aliases=["B"]), record(name="B"), []),
        (record(name="x.A"), record(name="y.A"), []),
        (
            record(field("r", ["null", "R"], default=None), field("a", "long")),
            record(field("r", ["null", "R"], default=None), field("a", "int")),
            [],
        ),
    ],
)
def test_a_reader_reads_what_the_specification_says(
    reader: Any, writer: Any, kinds: list[str]
) -> None:
    assert [each.kind for each in parse(reader).unreadable(parse(writer))] == kinds


def test_a_difference_says_where_it_is() -> None:
    nested = record(field("in", record(field("x", "int"), name="In")))
    changed = record(field("in", record(field("x", "string"), name="In")))
    (difference,) = parse(changed).unreadable(parse(nested))
    assert difference.path == "/fields/0/type/fields/0/type"
    message = difference.message(reader="new", writer="old")
    assert "string in the new schema and int in the old schema" in message
