"""Regular expressions from requests, matched in time that is linear in the name.

Python's own engine backtracks: an expression of a dozen characters could stop the gateway for
minutes.
"""

from __future__ import annotations

from typing import Final

import jsonschema_rs

_SIZE_MAX: Final = 1 << 20


class LinearPattern:
    """Raises ValueError for an expression that the engine does not support, such as look-around and
    references to groups."""

    def __init__(self, text: str) -> None:
        self._validator = jsonschema_rs.Draft7Validator(
            {"pattern": f"^(?:{text})$"},
            pattern_options=jsonschema_rs.RegexOptions(size_limit=_SIZE_MAX),
        )

    def fullmatch(self, name: str) -> bool:
        return bool(self._validator.is_valid(name))
