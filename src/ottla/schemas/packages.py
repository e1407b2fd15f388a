"""The packages that checking payloads needs. They come with the extra `ottla[web]`."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Final

from ottla.schemas.rules import SchemaRules

EXTRA: Final = "ottla[web]"
# To read the topic of schemas, and to use the schemas.
_FOR_IDS: Final = ("msgspec",)
_FOR_SCHEMAS: Final = ("jsonschema_rs", "google.protobuf", "grpc_tools")


def missing_packages(rules: SchemaRules) -> list[str]:
    """What this interpreter lacks to check the payloads of a topic with these rules."""
    needs_schemas = rules.key.needs_schema or rules.value.needs_schema
    needed = _FOR_IDS + _FOR_SCHEMAS if needs_schemas else _FOR_IDS
    return [name for name in needed if not _is_installed(name)]


def missing_text(missing: list[str]) -> str:
    return (
        f"checking the schemas of records needs packages that are not installed: "
        f"{', '.join(missing)}. Install them on every node with: pip install '{EXTRA}'"
    )


@cache
def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
