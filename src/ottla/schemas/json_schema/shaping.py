"""Takes a JSON Schema apart into shapes."""

from __future__ import annotations

from typing import Any, Final

from ottla.schemas.errors import InvalidSchemaError
from ottla.schemas.json_schema.resolving import SchemaDocuments
from ottla.schemas.json_schema.shape import SchemaNode, Shape, ShapeKind

_OF_TYPE: Final = {
    "string": ShapeKind.STRING,
    "number": ShapeKind.NUMBER,
    "integer": ShapeKind.NUMBER,
    "boolean": ShapeKind.BOOLEAN,
    "null": ShapeKind.NULL,
    "object": ShapeKind.OBJECT,
    "array": ShapeKind.ARRAY,
}
# Without `type`, keywords imply the type to which they apply.
_IMPLIED: Final = (
    (ShapeKind.STRING, ("minLength", "maxLength", "pattern", "format")),
    (
        ShapeKind.NUMBER,
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    ),
    (
        ShapeKind.ARRAY,
        (
            "items",
            "prefixItems",
            "additionalItems",
            "unevaluatedItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
        ),
    ),
    (
        ShapeKind.OBJECT,
        (
            "properties",
            "required",
            "minProperties",
            "maxProperties",
            "dependencies",
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
            "propertyNames",
            "additionalProperties",
            "unevaluatedProperties",
        ),
    ),
)
_CRITERIA: Final = ("allOf", "anyOf", "oneOf")
_REFERENCES_MAX: Final = 50


class Shaper:
    """Shapes the schemas of one document; each once."""

    def __init__(self, documents: SchemaDocuments, *, has_only_refs: bool) -> None:
        """`has_only_refs`: before draft 2019-09, keywords beside `$ref` do not count."""
        self._documents = documents
        self._has_only_refs = has_only_refs
        self._shapes: dict[tuple[int, str], Shape] = {}

    def shape(self, node: SchemaNode | Shape) -> Shape:
        if isinstance(node, Shape):
            return node
        node = self._follow(node)
        key = (id(node.document), node.base)
        if key not in self._shapes:
            self._shapes[key] = self._make(node)
        return self._shapes[key]

    def _make(self, node: SchemaNode) -> Shape:
        document = node.document
        if isinstance(document, bool):
            return Shape(ShapeKind.ANYTHING if document else ShapeKind.NOTHING, node)
        if not isinstance(document, dict):
            raise InvalidSchemaError(f"{type(document).__name__} is no schema")
        parts = self._parts(node, document)
        if not parts:
            return Shape(ShapeKind.ANYTHING, node)
        return parts[0] if len(parts) == 1 else Shape(ShapeKind.COMBINED, node, "allOf", parts)

    def _follow(self, node: SchemaNode) -> SchemaNode:
        """The schema to which `$ref` leads, if nothing beside it counts."""
        for _ in range(_REFERENCES_MAX):
            document = node.document
            if not isinstance(document, dict) or not isinstance(document.get("$ref"), str):
                return node
            if not self._has_only_refs and self._parts(node, document, with_reference=False):
                return node
            node = self._documents.resolve(document["$ref"], node.base)
        raise InvalidSchemaError("a $ref leads back to itself")

    def _parts(
        self, node: SchemaNode, document: dict[str, Any], *, with_reference: bool = True
    ) -> tuple[Shape, ...]:
        parts = []
        if with_reference and isinstance(document.get("$ref"), str):
            parts.append(self.shape(self._documents.resolve(document["$ref"], node.base)))
        for criterion in _CRITERIA:
            if isinstance(document.get(criterion), list):
                subs = tuple(SchemaNode(each, node.base) for each in document[criterion])
                parts.append(Shape(ShapeKind.COMBINED, node, criterion, subs))
        if "enum" in document:
            parts.append(Shape(ShapeKind.ENUM, node))
        if "const" in document:
            parts.append(Shape(ShapeKind.CONST, node))
        if "not" in document:
            parts.append(Shape(ShapeKind.NOT, node))
        if "if" in document:
            parts.append(Shape(ShapeKind.CONDITIONAL, node))
        parts += _typed(node, document)
        return tuple(parts)


def _typed(node: SchemaNode, document: dict[str, Any]) -> list[Shape]:
    types = document.get("type")
    if isinstance(types, str):
        return [Shape(_OF_TYPE[types], node)] if types in _OF_TYPE else []
    if isinstance(types, list):
        choices = tuple(
            Shape(_OF_TYPE[each], SchemaNode({**document, "type": each}, node.base))
            for each in types
            if isinstance(each, str) and each in _OF_TYPE
        )
        return [Shape(ShapeKind.COMBINED, node, "anyOf", choices)]
    return [
        Shape(kind, node) for kind, keywords in _IMPLIED if any(key in document for key in keywords)
    ]
