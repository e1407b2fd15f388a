"""The packages that checking payloads needs. They come with the extra `ottla[web]`."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Final

EXTRA: Final = "ottla[web]"
# To read the topic of schemas, and to use the schemas.
_NEEDED: Final = ("msgspec", "jsonschema_rs", "google.protobuf", "grpc_tools")


@cache
def missing_packages() -> list[str]:
    """What this interpreter lacks."""
    return [name for name in _NEEDED if not _is_installed(name)]


def missing_text(missing: list[str]) -> str:
    return (
        f"checking the schemas of records needs packages that are not installed: "
        f"{', '.join(missing)}. Install them on every node with: pip install '{EXTRA}'"
    )


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
