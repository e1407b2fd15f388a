"""What the comparisons of objects, arrays and values share."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from ottla.schemas.difference import Difference
from ottla.schemas.json_schema.shape import SchemaNode, ShapeKind

# The differences that break compatibility.
Breaks: TypeAlias = list[Difference]


class NodeComparison(Protocol):
    """Compares the schemas inside others."""

    def compare(self, earlier: SchemaNode, later: SchemaNode, path: str) -> Breaks: ...

    def kind_before(self, node: SchemaNode) -> ShapeKind: ...

    def kind_after(self, node: SchemaNode) -> ShapeKind: ...


def breaks(kind: str, path: str, text: str) -> Breaks:
    return [Difference(kind, path, text)]
