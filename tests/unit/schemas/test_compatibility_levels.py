"""The seven levels, over versions whose compatibility is known."""

from __future__ import annotations

import json

import pytest

from ottla.schemas import CompatibilityLevel, SchemaSource, SchemaType
from ottla.schemas.work import EarlierVersion, check_schema, inspect_schema


def avro(*fields: str, default: str = "") -> SchemaSource:
    found = [
        {"name": name, "type": "int", **({"default": 0} if name in default else {})}
        for name in fields
    ]
    document = {"type": "record", "name": "R", "fields": found}
    return SchemaSource(SchemaType.AVRO, json.dumps(document))


# The first version has a field that the second lacks, and that the third has with another type.
FIRST = avro("a", "b")
SECOND = avro("a")
THIRD = SchemaSource(
    SchemaType.AVRO,
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},'
    '{"name":"b","type":"string","default":""}]}',
)
EARLIER = [EarlierVersion(1, FIRST), EarlierVersion(2, SECOND)]


@pytest.mark.parametrize(
    ("level", "source", "conflict"),
    [
        ("NONE", SchemaSource(SchemaType.JSON, "{}"), None),
        ("BACKWARD", THIRD, None),
        ("BACKWARD_TRANSITIVE", THIRD, 1),
        ("BACKWARD", FIRST, 2),
        ("FORWARD", FIRST, None),
        ("FORWARD", SECOND, None),
        ("FORWARD_TRANSITIVE", SECOND, 1),
        ("FULL", avro("a", "c", default="c"), None),
        ("FULL", FIRST, 2),
        ("FULL_TRANSITIVE", avro("a", "c", default="c"), 1),
        ("BACKWARD", SchemaSource(SchemaType.JSON, "{}"), 2),
    ],
)
def test_a_level_compares_with_the_versions_that_it_names(
    level: str, source: SchemaSource, conflict: int | None
) -> None:
    messages = check_schema(CompatibilityLevel(level), source, EARLIER)
    if conflict is None:
        assert messages == []
    else:
        assert f"{{oldSchemaVersion: {conflict}}}" in messages


def test_a_schema_is_inspected_once_and_knows_its_fields() -> None:
    assert inspect_schema(FIRST, is_strict=True).top_fields == {"a", "b"}
