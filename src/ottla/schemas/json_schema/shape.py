"""What a JSON Schema allows, in the form in which schemas are compared.

A schema with several kinds of keywords, such as `type` and `enum`, is a combination of shapes that
all apply; one with several types is a choice between them. This is how the validator of the Java
registries takes schemas apart, and their rules of compatibility are about those parts.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple


class ShapeKind(Enum):
    ANYTHING = "anything"
    NOTHING = "nothing"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    OBJECT = "object"
    ARRAY = "array"
    ENUM = "enum"
    CONST = "const"
    COMBINED = "combined"
    NOT = "not"
    CONDITIONAL = "conditional"


class SchemaNode(NamedTuple):
    """A schema in its document: the base URI is what its references are relative to."""

    document: Any
    base: str


class Shape(NamedTuple):
    """`criterion` and `parts` are of a combination, `node` is the schema with the keywords."""

    kind: ShapeKind
    node: SchemaNode
    criterion: str = ""
    parts: tuple[SchemaNode | Shape, ...] = ()
