"""Whether what one JSON Schema accepts is also accepted by another.

The rules and the names of the differences are those that Confluent documents for its registry, in
the strict policy. Only differences that break compatibility are reported. Pairs that are being
compared count as compatible, so that recursive schemas end.
"""

from __future__ import annotations

from typing import Any, Final

from ottla.schemas.difference import Difference, StepBudget
from ottla.schemas.errors import SchemaTooComplexError
from ottla.schemas.json_schema.arrays import array_differences
from ottla.schemas.json_schema.bounds import number_differences, string_differences
from ottla.schemas.json_schema.comparing import Breaks, breaks
from ottla.schemas.json_schema.matching import largest_matching
from ottla.schemas.json_schema.objects import object_differences
from ottla.schemas.json_schema.shape import SchemaNode, Shape, ShapeKind
from ottla.schemas.json_schema.shaping import Shaper
from ottla.schemas.json_text import write_json

_STEPS_MAX: Final = 50_000
_CHOICES: Final = ("anyOf", "oneOf")


def json_differences(
    reader: SchemaNode, reader_shaper: Shaper, writer: SchemaNode, writer_shaper: Shaper
) -> list[Difference]:
    """Why data that the writer's schema accepts may not be accepted by the reader's."""
    return ShapeComparison(reader_shaper, writer_shaper).compare(writer, reader, "#/")


class ShapeComparison:
    """`earlier` is the schema of the data that exist, `later` the one that has to accept them."""

    def __init__(self, later: Shaper, earlier: Shaper) -> None:
        self._later = later
        self._earlier = earlier
        self._found: dict[tuple[int, int], Breaks] = {}
        # Shapes that were made for this comparison, whose addresses must not be used again.
        self._kept: list[Shape] = []
        self._budget = StepBudget(_STEPS_MAX)

    def compare(self, earlier: SchemaNode | Shape, later: SchemaNode | Shape, path: str) -> Breaks:
        before, after = self._earlier.shape(earlier), self._later.shape(later)
        pair = (id(before), id(after))
        if pair in self._found:
            return self._found[pair]
        if not self._budget.take():
            raise SchemaTooComplexError("the two schemas take too many steps to compare")
        self._kept += (before, after)
        self._found[pair] = []
        self._found[pair] = found = self._compare(before, after, path)
        return found

    def kind_before(self, node: SchemaNode) -> ShapeKind:
        return self._earlier.shape(node).kind

    def kind_after(self, node: SchemaNode) -> ShapeKind:
        return self._later.shape(node).kind

    def _compare(self, before: Shape, after: Shape, path: str) -> Breaks:
        if self._is_covered_by_part(before, after, path):
            return []
        if before.kind is not after.kind:
            if before.kind is ShapeKind.NOTHING or after.kind is ShapeKind.ANYTHING:
                return []
            return breaks(
                "TYPE_CHANGED",
                path,
                f"The type at path '{path}' is {_title(after)} in the {{reader}} schema and "
                f"{_title(before)} in the {{writer}} schema",
            )
        if before.kind is ShapeKind.COMBINED:
            return self._combinations(before, after, path)
        old, new = before.node.document, after.node.document
        if before.kind is ShapeKind.STRING:
            return string_differences(old, new, path)
        if before.kind is ShapeKind.NUMBER:
            return number_differences(old, new, path)
        if before.kind is ShapeKind.OBJECT:
            return object_differences(self, before.node, after.node, path)
        if before.kind is ShapeKind.ARRAY:
            return array_differences(self, before.node, after.node, path)
        if before.kind is ShapeKind.ENUM:
            return _enums(old["enum"], new["enum"], f"{path}enum")
        if before.kind is ShapeKind.CONST:
            return _enums([old["const"]], [new["const"]], f"{path}const")
        if before.kind is ShapeKind.NOT:
            return self._negations(before.node, after.node, path)
        return []

    def _is_covered_by_part(self, before: Shape, after: Shape, path: str) -> bool:
        """Whether the earlier schema is one of the choices of the later one, or the later one is
        one of the conditions that the earlier one made."""
        is_split, was_split = (each.kind is ShapeKind.COMBINED for each in (after, before))
        if is_split == was_split:
            return False
        if is_split:
            is_choice = len(after.parts) == 1 or after.criterion in _CHOICES
            return is_choice and any(not self.compare(before, part, path) for part in after.parts)
        is_condition = len(before.parts) == 1 or before.criterion == "allOf"
        return is_condition and any(not self.compare(part, after, path) for part in before.parts)

    def _negations(self, before: SchemaNode, after: SchemaNode, path: str) -> Breaks:
        """What is excluded may only shrink, so both sides change places."""
        swapped = ShapeComparison(self._earlier, self._later)
        swapped._budget = self._budget
        old = SchemaNode(before.document["not"], before.base)
        new = SchemaNode(after.document["not"], after.base)
        if not swapped.compare(new, old, f"{path}not/"):
            return []
        return breaks(
            "NOT_TYPE_EXTENDED",
            f"{path}not",
            f"The schema at path '{path}not' excludes more in the {{reader}} schema than in the "
            "{writer} schema",
        )

    # ---- combinations

    def _combinations(self, before: Shape, after: Shape, path: str) -> Breaks:
        if not _is_criterion_extended(before, after):
            return breaks(
                "COMBINED_TYPE_CHANGED",
                path,
                f"The schema at path '{path}' combines its parts with {after.criterion} in the "
                f"{{reader}} schema and with {before.criterion} in the {{writer}} schema",
            )
        old, new = _distinct(before), _distinct(after)
        found = []
        if len(old) < len(new) and after.criterion == "allOf":
            found += breaks(
                "PRODUCT_TYPE_EXTENDED",
                path,
                f"The {{reader}} schema has more conditions in allOf at path '{path}' than the "
                "{writer} schema",
            )
        if len(old) > len(new) and before.criterion in _CHOICES:
            found += breaks(
                "SUM_TYPE_NARROWED",
                path,
                f"The {{reader}} schema has fewer choices in {before.criterion} at path '{path}' "
                "than the {writer} schema",
            )
        edges = [
            [
                column
                for column, part in enumerate(new)
                if not self.compare(each, part, f"{path}{before.criterion}/{row}/")
            ]
            for row, each in enumerate(old)
        ]
        if largest_matching(edges) < min(len(old), len(new)):
            found += breaks(
                "COMBINED_TYPE_SUBSCHEMAS_CHANGED",
                path,
                f"A part of {before.criterion} at path '{path}' of the {{writer}} schema has no "
                "part in the {reader} schema that accepts the same data",
            )
        return found


def _is_criterion_extended(before: Shape, after: Shape) -> bool:
    if before.criterion == after.criterion or after.criterion == "anyOf":
        return True
    one_before, one_after = len(before.parts) == 1, len(after.parts) == 1
    return (one_before and (one_after or after.criterion == "oneOf")) or (
        one_after and before.criterion == "allOf"
    )


def _distinct(shape: Shape) -> list[SchemaNode | Shape]:
    found = {_key(part): part for part in reversed(shape.parts)}
    return list(reversed(found.values()))


def _key(part: SchemaNode | Shape) -> tuple[str, str]:
    if isinstance(part, Shape):
        return f"{part.kind.value} {part.criterion}", write_json(part.node.document, sort_keys=True)
    return part.base, write_json(part.document, sort_keys=True)


def _enums(old: Any, new: Any, path: str) -> Breaks:
    if not isinstance(old, list) or not isinstance(new, list):
        return []
    before = {write_json(each, sort_keys=True) for each in old}
    after = {write_json(each, sort_keys=True) for each in new}
    if before <= after:
        return []
    lost = ", ".join(sorted(before - after))
    return breaks(
        "ENUM_ARRAY_NARROWED" if after < before else "ENUM_ARRAY_CHANGED",
        path,
        f"The values {lost} at path '{path}' of the {{writer}} schema are not in the {{reader}} "
        "schema",
    )


def _title(shape: Shape) -> str:
    if shape.kind is ShapeKind.COMBINED:
        return shape.criterion
    return str(shape.kind.value)
