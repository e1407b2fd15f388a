"""JSON of schemas: parsed with limits, and written compactly."""

from __future__ import annotations

import json
from typing import Any, Final

from ottla.schemas.errors import InvalidSchemaError

# No schema that a person or a program writes nests that deep; Python's stack has room for more.
DEPTH_MAX: Final = 100


def parse_json(text: str) -> Any:
    """Raises InvalidSchemaError for text that is not JSON, or nested too deeply."""
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise InvalidSchemaError(f"the schema is not JSON: {error}") from None
    level = [document]
    for _ in range(DEPTH_MAX):
        level = [
            child
            for each in level
            if isinstance(each, (dict, list))
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return document
    raise _too_deep()


def write_json(value: object, *, sort_keys: bool = False) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=sort_keys)


def _too_deep() -> InvalidSchemaError:
    return InvalidSchemaError(f"the schema nests more than {DEPTH_MAX} levels deep")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
