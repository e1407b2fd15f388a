"""Objects: properties, and what else an object may have.

A content model is open if an object may have any other property, closed if none, and partially
open if a schema says which. A property may only be added where earlier data could not have had it
with another type, and only be removed where the rest of the schema accepts it.
"""

from __future__ import annotations

from typing import Any

from ottla.schemas.json_schema.bounds import added, bound_differences
from ottla.schemas.json_schema.comparing import Breaks, NodeComparison, breaks
from ottla.schemas.json_schema.name_pattern import matches_pattern
from ottla.schemas.json_schema.shape import SchemaNode, ShapeKind


class ObjectModel:
    """The keywords of one schema of objects."""

    def __init__(self, node: SchemaNode) -> None:
        self._base = node.base
        document = node.document
        self.document = document
        self.properties = self._nodes(document.get("properties"))
        required = document.get("required")
        self.required = set(required) if isinstance(required, list) else set()
        self.patterns = self._nodes(document.get("patternProperties"))
        self.additional = self._other(document.get("additionalProperties", True))
        self.unevaluated = self._other(document.get("unevaluatedProperties", True))
        self.has_additional = document.get("additionalProperties", True) is not False

    def _nodes(self, found: Any) -> dict[str, SchemaNode]:
        if not isinstance(found, dict):
            return {}
        return {name: SchemaNode(each, self._base) for name, each in found.items()}

    def _other(self, found: Any) -> SchemaNode | None:
        """None if everything or nothing is accepted."""
        return SchemaNode(found, self._base) if isinstance(found, dict) and found else None

    @property
    def is_open(self) -> bool:
        return (
            self.has_additional
            and self.additional is None
            and not self.patterns
            and self.unevaluated is None
            and self.document.get("unevaluatedProperties", True) is not False
        )

    def schema_of_other(self, name: str) -> SchemaNode | None:
        """The schema of a property that is not listed, in a partially open content model."""
        for pattern, node in self.patterns.items():
            if matches_pattern(pattern, name):
                return node
        if self.additional is not None:
            return self.additional
        return self.unevaluated if self.has_additional else None

    def dependencies(self) -> dict[str, Any]:
        found = {}
        for keyword in ("dependencies", "dependentRequired", "dependentSchemas"):
            given = self.document.get(keyword)
            if isinstance(given, dict):
                found.update(given)
        return found

    def node(self, document: Any) -> SchemaNode:
        return SchemaNode(document, self._base)

    def has_default(self, name: str) -> bool:
        document = self.properties[name].document
        return isinstance(document, dict) and "default" in document


def object_differences(
    comparison: NodeComparison, before: SchemaNode, after: SchemaNode, path: str
) -> Breaks:
    old, new = ObjectModel(before), ObjectModel(after)
    found = bound_differences(old.document, new.document, ("maxProperties", "minProperties"), path)
    found += _others(comparison, old, new, "additionalProperties", "ADDITIONAL_PROPERTIES", path)
    found += _others(comparison, old, new, "unevaluatedProperties", "UNEVALUATED_PROPERTIES", path)
    found += _dependencies(comparison, old, new, f"{path}dependencies/")
    for name in dict.fromkeys((*old.properties, *new.properties)):
        at = f"{path}properties/{name}"
        if name not in new.properties:
            found += _removed(comparison, old, new, name, at)
        elif name not in old.properties:
            found += _added(comparison, old, new, name, at)
        else:
            found += comparison.compare(old.properties[name], new.properties[name], f"{at}/")
            found += _required(old, new, name, f"{path}required/{name}")
    return found


def _others(
    comparison: NodeComparison,
    old: ObjectModel,
    new: ObjectModel,
    keyword: str,
    kind: str,
    path: str,
) -> Breaks:
    before, after = old.document.get(keyword, True), new.document.get(keyword, True)
    at = f"{path}{keyword}"
    if after in (True, {}) or before is False:
        return []
    if after is False:
        return added(f"{kind}_REMOVED", at)
    if before in (True, {}):
        return added(f"{kind}_NARROWED", at)
    return comparison.compare(old.node(before), new.node(after), f"{at}/")


def _dependencies(
    comparison: NodeComparison, old: ObjectModel, new: ObjectModel, path: str
) -> Breaks:
    found: Breaks = []
    before, after = old.dependencies(), new.dependencies()
    for name, needed in after.items():
        at = f"{path}{name}"
        if name not in before:
            kind = (
                "DEPENDENCY_ARRAY_ADDED" if isinstance(needed, list) else "DEPENDENCY_SCHEMA_ADDED"
            )
            found += added(kind, at)
        elif isinstance(needed, list) and isinstance(before[name], list):
            missing = set(map(str, needed)) - set(map(str, before[name]))
            if missing:
                is_extended = set(map(str, before[name])) <= set(map(str, needed))
                found += breaks(
                    "DEPENDENCY_ARRAY_EXTENDED" if is_extended else "DEPENDENCY_ARRAY_CHANGED",
                    at,
                    f"The dependencies at path '{at}' have {', '.join(sorted(missing))} in the "
                    "{reader} schema but not in the {writer} schema",
                )
        elif not isinstance(needed, list) and not isinstance(before[name], list):
            found += comparison.compare(old.node(before[name]), new.node(needed), f"{at}/")
        else:
            found += added("DEPENDENCY_SCHEMA_ADDED", at)
    return found


def _removed(
    comparison: NodeComparison, old: ObjectModel, new: ObjectModel, name: str, at: str
) -> Breaks:
    if new.is_open:
        return []
    cover = new.schema_of_other(name)
    if cover is not None:
        found = comparison.compare(old.properties[name], cover, f"{at}/")
        if found:
            found = found + breaks(
                "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
                at,
                f"The property at path '{at}' of the {{writer}} schema is missing in the "
                "{reader} schema, whose schema of other properties does not accept it",
            )
        return found
    if comparison.kind_before(old.properties[name]) is ShapeKind.NOTHING:
        return []
    return breaks(
        "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
        at,
        f"The property at path '{at}' of the {{writer}} schema is missing in the {{reader}} "
        "schema, which accepts no other properties",
    )


def _added(
    comparison: NodeComparison, old: ObjectModel, new: ObjectModel, name: str, at: str
) -> Breaks:
    is_required, has_default = name in new.required, new.has_default(name)
    if old.is_open:
        if comparison.kind_after(new.properties[name]) is ShapeKind.ANYTHING:
            return []
        kind = "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
        if is_required:
            kind = "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"
            if has_default:
                kind = "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL"
        return breaks(
            kind,
            at,
            f"The {{reader}} schema has a property at path '{at}' that is not listed in the "
            "{writer} schema, which accepts any value there",
        )
    found: Breaks = []
    cover = old.schema_of_other(name)
    if cover is not None:
        found = comparison.compare(cover, new.properties[name], f"{at}/")
        if found:
            found = found + breaks(
                "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
                at,
                f"The {{reader}} schema has a property at path '{at}' that accepts less than the "
                "schema of other properties in the {writer} schema",
            )
    if is_required and not has_default:
        found = found + breaks(
            "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
            at,
            f"The {{reader}} schema requires a property at path '{at}' without a default, which "
            "the {writer} schema does not have",
        )
    return found


def _required(old: ObjectModel, new: ObjectModel, name: str, at: str) -> Breaks:
    if name not in new.required or name in old.required or new.has_default(name):
        return []
    return added("REQUIRED_ATTRIBUTE_ADDED", at)
