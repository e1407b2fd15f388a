"""The columns of rows that can be written: those of Spark's Kafka connector.

`value` is required; `key`, `headers`, `topic` and `partition` are optional. Others are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.pipeline.reading.errors import OptionError

_TEXT_OR_BYTES: Final = ("string", "binary")
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "key": _TEXT_OR_BYTES,
    "value": _TEXT_OR_BYTES,
    "headers": ("array<struct<key:string,value:binary>>",),
    "topic": ("string",),
    "partition": ("int",),
}


def check_columns(types: Mapping[str, str], *, has_topic: bool) -> None:
    """`types` are Spark's simple type names. Raises OptionError for columns that cannot be
    written."""
    if "value" not in types:
        raise OptionError(
            f"rows need a column value, as {' or '.join(_TEXT_OR_BYTES)}; "
            f"they have {', '.join(types) or 'none'}"
        )
    if not has_topic and "topic" not in types:
        raise OptionError("no topic: set the option topic, or give rows a column topic")
    for name, allowed in _TYPES.items():
        if name == "topic" and has_topic:
            continue
        if name in types and types[name] not in allowed:
            raise OptionError(
                f"the column {name} is {types[name]}; it must be {' or '.join(allowed)}: cast it, "
                "or encode it, as with to_json"
            )
