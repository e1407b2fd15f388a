"""Values of a request's query, with their ranges."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ottla.web.gateway.problems import GatewayProblem, bad_request

_NUMBER: Final = re.compile(r"-?[0-9]{1,18}")
_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def number(query: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    """Raises GatewayProblem."""
    text = query.get(name)
    if text is None:
        return default
    if _NUMBER.fullmatch(text) is None or not low <= int(text) <= high:
        raise bad_request(f"{name} must be a whole number from {low} to {high}.")
    return int(text)


def topic_name(text: str) -> str:
    """Raises GatewayProblem for a name that no topic can have."""
    if _TOPIC.fullmatch(text) is None or text in (".", ".."):
        raise GatewayProblem(
            400,
            "INVALID_TOPIC_EXCEPTION",
            "A topic's name has 1 to 249 of the characters a-z, A-Z, 0-9, '.', '_' and '-', and is "
            "not '.' or '..'.",
        )
    return text
