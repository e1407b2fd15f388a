"""Reads JSON from strangers: strictly, within bounds, and with one kind of error."""

from __future__ import annotations

import json
from typing import Any, NoReturn


def parse_object(text: str | bytes) -> dict[str, Any]:
    """Raises a ValueError, which contains none of the text, for anything but one JSON object
    without repeated names and special numbers."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError("it is not valid JSON") from None
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is repeated")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
