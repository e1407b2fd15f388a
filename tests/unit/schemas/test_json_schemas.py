"""JSON Schema: what is valid, and which changes break readers. The names of the differences are
those of Confluent's documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ottla.schemas import InvalidSchemaError, ResolvedReference
from ottla.schemas.json_schema.schema import JsonSchemaDocument


def parse(document: Any, *references: ResolvedReference) -> JsonSchemaDocument:
    return JsonSchemaDocument.parse(json.dumps(document), references, is_strict=True)


def an_object(**more: Any) -> dict[str, Any]:
    return {"type": "object", **more}


def closed(**properties: Any) -> dict[str, Any]:
    return an_object(properties=properties, additionalProperties=False)


TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


@pytest.mark.parametrize(
    ("reader", "writer", "kinds"),
    [
        ({}, TEXT, []),
        (TEXT, {}, ["TYPE_CHANGED"]),
        (TEXT, INTEGER, ["TYPE_CHANGED"]),
        ({"type": "number"}, INTEGER, []),
        (INTEGER, {"type": "number"}, ["TYPE_NARROWED"]),
        ({**TEXT, "maxLength": 5}, TEXT, ["MAX_LENGTH_ADDED"]),
        ({**TEXT, "maxLength": 5}, {**TEXT, "maxLength": 6}, ["MAX_LENGTH_DECREASED"]),
        ({**TEXT, "maxLength": 6}, {**TEXT, "maxLength": 5}, []),
        ({**TEXT, "pattern": "a"}, {**TEXT, "pattern": "b"}, ["PATTERN_CHANGED"]),
        ({**INTEGER, "minimum": 1}, {**INTEGER, "minimum": 0}, ["MINIMUM_INCREASED"]),
        ({**INTEGER, "multipleOf": 4}, {**INTEGER, "multipleOf": 2}, ["MULTIPLE_OF_EXPANDED"]),
        ({**INTEGER, "multipleOf": 2}, {**INTEGER, "multipleOf": 4}, []),
        ({**INTEGER, "multipleOf": 0.1}, {**INTEGER, "multipleOf": 0.3}, []),
        ({"enum": [1, 2]}, {"enum": [1]}, []),
        ({"enum": [1]}, {"enum": [1, 2]}, ["ENUM_ARRAY_NARROWED"]),
        ({"const": 1}, {"const": 2}, ["ENUM_ARRAY_CHANGED"]),
        ({"type": ["string", "null"]}, TEXT, []),
        (TEXT, {"type": ["string", "null"]}, ["TYPE_CHANGED"]),
        ({"oneOf": [TEXT, INTEGER]}, {"oneOf": [TEXT]}, []),
        ({"oneOf": [TEXT]}, {"oneOf": [TEXT, INTEGER]}, ["SUM_TYPE_NARROWED"]),
        ({"not": TEXT}, {"not": {}}, []),
        ({"not": {}}, {"not": TEXT}, ["NOT_TYPE_EXTENDED"]),
        (
            an_object(properties={"a": TEXT}),
            an_object(),
            ["OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"],
        ),
        (closed(a=TEXT), closed(), []),
        (closed(), closed(a=TEXT), ["PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"]),
        (an_object(), an_object(properties={"a": TEXT}), []),
        (
            {**closed(a=TEXT), "required": ["a"]},
            closed(),
            ["REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"],
        ),
        ({**closed(a={**TEXT, "default": ""}), "required": ["a"]}, closed(), []),
        ({**closed(a=TEXT), "required": ["a"]}, closed(a=TEXT), ["REQUIRED_ATTRIBUTE_ADDED"]),
        (closed(), an_object(properties={}), ["ADDITIONAL_PROPERTIES_REMOVED"]),
        (
            an_object(patternProperties={"^s_": TEXT}, properties={"s_a": TEXT}),
            an_object(patternProperties={"^s_": TEXT}),
            [],
        ),
        (
            {"type": "array", "items": TEXT},
            {"type": "array", "items": INTEGER},
            ["TYPE_CHANGED"],
        ),
        ({"type": "array", "uniqueItems": True}, {"type": "array"}, ["UNIQUE_ITEMS_ADDED"]),
    ],
)
def test_a_later_schema_accepts_what_earlier_data_may_be(
    reader: Any, writer: Any, kinds: list[str]
) -> None:
    assert [each.kind for each in parse(reader).unreadable(parse(writer))] == kinds


def test_recursive_schemas_are_compared() -> None:
    def tree(value: Any) -> dict[str, Any]:
        return {
            "definitions": {"node": closed(value=value, next={"$ref": "#/definitions/node"})},
            "$ref": "#/definitions/node",
        }

    assert parse(tree(TEXT)).unreadable(parse(tree(TEXT))) == []
    (difference,) = parse(tree(TEXT)).unreadable(parse(tree(INTEGER)))
    assert (difference.kind, difference.path) == ("TYPE_CHANGED", "#/properties/value/")


def test_a_reference_leads_to_a_schema_that_was_given() -> None:
    address = ResolvedReference("address.json", json.dumps(closed(zip=TEXT)))
    schema = parse(closed(to={"$ref": "address.json"}), address)
    changed = ResolvedReference("address.json", json.dumps(closed(zip=INTEGER)))
    (difference,) = parse(closed(to={"$ref": "address.json"}), changed).unreadable(schema)
    assert difference.path == "#/properties/to/properties/zip/"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"type": "strin"}, "not valid"),
        ({"properties": {"a": {"minLength": "x"}}}, "#/properties/a/minLength"),
        ({"$ref": "http://example.com/other.json"}, "add it as a reference"),
        ({"$ref": "#/definitions/none"}, "does not exist"),
        (7, "an object"),
    ],
)
def test_an_invalid_schema_is_refused_with_its_reason(document: Any, reason: str) -> None:
    with pytest.raises(InvalidSchemaError, match=reason):
        parse(document)


def test_a_pattern_that_backtracks_keeps_nobody_busy() -> None:
    hostile = an_object(patternProperties={"^(a+)+$": TEXT}, properties={})
    earlier = an_object(patternProperties={"^(a+)+$": TEXT}, properties={"a" * 40 + "!": TEXT})
    (difference,) = parse(hostile).unreadable(parse(earlier))
    assert difference.kind == "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL"
