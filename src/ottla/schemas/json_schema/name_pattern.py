"""Whether a property's name matches a pattern of a schema.

With an engine whose time is linear, because a pattern may be written to keep another one busy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

_SIZE_MAX: Final = 1 << 20
_BACKTRACKS_MAX: Final = 10_000


def matches_pattern(pattern: str, name: str) -> bool:
    """False if the pattern cannot be compiled."""
    matcher = _matcher(pattern)
    try:
        return matcher is not None and bool(matcher.is_valid(name))
    except ValueError:
        return False


@lru_cache(256)
def _matcher(pattern: str) -> Any:
    import jsonschema_rs

    schema = {"pattern": pattern}
    for options in (
        jsonschema_rs.RegexOptions(size_limit=_SIZE_MAX),
        # Look-around needs the other engine, which gives up after some steps.
        jsonschema_rs.FancyRegexOptions(size_limit=_SIZE_MAX, backtrack_limit=_BACKTRACKS_MAX),
    ):
        try:
            return jsonschema_rs.Draft7Validator(schema, pattern_options=options)
        except ValueError:
            continue
    return None
