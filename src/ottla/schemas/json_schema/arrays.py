"""Arrays: their sizes, the schema of all items, and the schemas of the first ones."""

from __future__ import annotations

from typing import Any

from ottla.schemas.json_schema.bounds import added, bound_differences
from ottla.schemas.json_schema.comparing import Breaks, NodeComparison, breaks
from ottla.schemas.json_schema.shape import SchemaNode, ShapeKind


class ArrayModel:
    """The keywords of one schema of arrays. Before draft 2020-12, `items` may be the list of the
    first items, and `additionalItems` the schema of the others; from then on, the list is
    `prefixItems`, and `items` the schema of the others."""

    def __init__(self, node: SchemaNode) -> None:
        self._base = node.base
        self.document = document = node.document
        items, prefix = document.get("items"), document.get("prefixItems")
        first: list[Any] = []
        self.all_items: SchemaNode | None = None
        self.others: Any = True
        self.others_keyword = "additionalItems"
        if isinstance(prefix, list):
            first, self.others, self.others_keyword = prefix, document.get("items", True), "items"
        elif isinstance(items, list):
            first, self.others = items, document.get("additionalItems", True)
        else:
            # Without a list of first items, this keyword has no effect on data; its changes count.
            self.others = document.get("additionalItems", True)
            if items is not None:
                self.all_items = SchemaNode(items, self._base)
        if self.others is True:
            self.others = document.get("unevaluatedItems", True)
        self.first = [SchemaNode(each, self._base) for each in first]

    @property
    def is_open(self) -> bool:
        return self.others in (True, {})

    def node(self, document: Any) -> SchemaNode:
        return SchemaNode(document, self._base)


def array_differences(
    comparison: NodeComparison, before: SchemaNode, after: SchemaNode, path: str
) -> Breaks:
    old, new = ArrayModel(before), ArrayModel(after)
    keywords = ("maxItems", "minItems", "maxContains", "minContains")
    found = bound_differences(old.document, new.document, keywords, path)
    if new.document.get("uniqueItems") is True and old.document.get("uniqueItems") is not True:
        found += added("UNIQUE_ITEMS_ADDED", f"{path}uniqueItems")
    if new.all_items is not None:
        if old.all_items is not None:
            found += comparison.compare(old.all_items, new.all_items, f"{path}items/")
        elif not old.first and comparison.kind_after(new.all_items) is not ShapeKind.ANYTHING:
            found += added("SCHEMA_ADDED", f"{path}items")
    found += _others(comparison, old, new, path)
    return found + _first_items(comparison, old, new, path)


def _others(comparison: NodeComparison, old: ArrayModel, new: ArrayModel, path: str) -> Breaks:
    at = f"{path}{new.others_keyword}"
    if new.is_open or old.others is False:
        return []
    if new.others is False:
        return added("ADDITIONAL_ITEMS_REMOVED", at)
    if old.is_open:
        return added("ADDITIONAL_ITEMS_NARROWED", at)
    return comparison.compare(old.node(old.others), new.node(new.others), f"{at}/")


def _first_items(comparison: NodeComparison, old: ArrayModel, new: ArrayModel, path: str) -> Breaks:
    found: Breaks = []
    for index in range(max(len(old.first), len(new.first))):
        at = f"{path}items/{index}"
        if index < len(old.first) and index < len(new.first):
            found += comparison.compare(old.first[index], new.first[index], f"{at}/")
        elif index < len(old.first):
            found += _removed(comparison, old.first[index], new, at)
        else:
            found += _added(comparison, old, new.first[index], at)
    return found


def _removed(comparison: NodeComparison, item: SchemaNode, new: ArrayModel, at: str) -> Breaks:
    if new.all_items is not None:
        return comparison.compare(item, new.all_items, f"{at}/")
    if new.is_open:
        return []
    if new.others is False:
        if comparison.kind_before(item) is ShapeKind.NOTHING:
            return []
        return breaks(
            "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL",
            at,
            f"The item at path '{at}' of the {{writer}} schema is missing in the {{reader}} "
            "schema, which accepts no other items",
        )
    found = comparison.compare(item, new.node(new.others), f"{at}/")
    if not found:
        return []
    return found + breaks(
        "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        at,
        f"The item at path '{at}' of the {{writer}} schema is missing in the {{reader}} schema, "
        "whose schema of other items does not accept it",
    )


def _added(comparison: NodeComparison, old: ArrayModel, item: SchemaNode, at: str) -> Breaks:
    cover = old.all_items
    if cover is None and old.is_open:
        if comparison.kind_after(item) is ShapeKind.ANYTHING:
            return []
        return breaks(
            "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
            at,
            f"The {{reader}} schema has an item at path '{at}' that is not listed in the "
            "{writer} schema, which accepts any value there",
        )
    if cover is None:
        if old.others is False:
            return []
        cover = old.node(old.others)
    found = comparison.compare(cover, item, f"{at}/")
    if not found:
        return []
    return found + breaks(
        "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
        at,
        f"The {{reader}} schema has an item at path '{at}' that accepts less than the schema of "
        "other items in the {writer} schema",
    )
