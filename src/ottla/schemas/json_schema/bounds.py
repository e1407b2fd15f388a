"""Limits of strings, numbers, and of the sizes of objects and arrays."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from ottla.schemas.json_schema.comparing import Breaks, breaks

_NAMES: Final = {
    "maxLength": "MAX_LENGTH",
    "minLength": "MIN_LENGTH",
    "maximum": "MAXIMUM",
    "minimum": "MINIMUM",
    "exclusiveMaximum": "EXCLUSIVE_MAXIMUM",
    "exclusiveMinimum": "EXCLUSIVE_MINIMUM",
    "maxProperties": "MAX_PROPERTIES",
    "minProperties": "MIN_PROPERTIES",
    "maxItems": "MAX_ITEMS",
    "minItems": "MIN_ITEMS",
    "maxContains": "MAX_CONTAINS",
    "minContains": "MIN_CONTAINS",
}


def string_differences(old: dict[str, Any], new: dict[str, Any], path: str) -> Breaks:
    found = bound_differences(old, new, ("maxLength", "minLength"), path)
    before, after = old.get("pattern"), new.get("pattern")
    if after is not None and before != after:
        found += (
            added("PATTERN_ADDED", f"{path}pattern")
            if before is None
            else _changed("PATTERN_CHANGED", f"{path}pattern", before, after)
        )
    return found


def number_differences(old: dict[str, Any], new: dict[str, Any], path: str) -> Breaks:
    keywords = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum")
    found = bound_differences(_numeric_limits(old), _numeric_limits(new), keywords, path)
    before, after = _number(old.get("multipleOf")), _number(new.get("multipleOf"))
    if after is not None and before != after:
        at = f"{path}multipleOf"
        if before is None:
            found += added("MULTIPLE_OF_ADDED", at)
        elif before and not after % before:
            found += _changed("MULTIPLE_OF_EXPANDED", at, before, after)
        elif not after or before % after:
            found += _changed("MULTIPLE_OF_CHANGED", at, before, after)
    if new.get("type") == "integer" and old.get("type") != "integer":
        found += breaks(
            "TYPE_NARROWED",
            path,
            f"The type at path '{path}' is integer in the {{reader}} schema and number in the "
            "{writer} schema",
        )
    return found


def bound_differences(
    old: dict[str, Any], new: dict[str, Any], keywords: Iterable[str], path: str
) -> Breaks:
    """A limit that is new, or stricter than before."""
    found: Breaks = []
    for keyword in keywords:
        before, after = _number(old.get(keyword)), _number(new.get(keyword))
        if after is None or before == after:
            continue
        name, at = _NAMES[keyword], f"{path}{keyword}"
        is_upper = "max" in keyword.lower()
        if before is None:
            found += added(f"{name}_ADDED", at)
        elif is_upper and after < before:
            found += _changed(f"{name}_DECREASED", at, before, after)
        elif not is_upper and after > before:
            found += _changed(f"{name}_INCREASED", at, before, after)
    return found


def added(kind: str, path: str) -> Breaks:
    return breaks(
        kind,
        path,
        f"The keyword at path '{path}' in the {{reader}} schema is not in the {{writer}} schema",
    )


def _changed(kind: str, path: str, before: object, after: object) -> Breaks:
    return breaks(
        kind,
        path,
        f"The value at path '{path}' is {after} in the {{reader}} schema and {before} in the "
        "{writer} schema",
    )


def _numeric_limits(document: dict[str, Any]) -> dict[str, Any]:
    """In draft 4, an exclusive limit is a flag beside the limit."""
    found = dict(document)
    for limit, flag in (("maximum", "exclusiveMaximum"), ("minimum", "exclusiveMinimum")):
        if isinstance(document.get(flag), bool):
            found.pop(flag)
            if document[flag] and limit in document:
                found[flag] = found.pop(limit)
    return found


def _number(value: Any) -> Decimal | None:
    """Exact, so that 0.1 is a tenth."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return Decimal(str(value))
