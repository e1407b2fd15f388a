"""The content type of an answer: what the request accepts of the three that are one format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ottla.web.registry.api.responses import CONTENT_TYPE
from ottla.web.service.problems import HttpProblem

_OFFERED: Final = (CONTENT_TYPE, "application/vnd.schemaregistry+json", "application/json")
_ANY: Final = ("*", "*/*")


def accepted_type(scope: Mapping[str, Any]) -> str:
    """The offered one with the greatest weight. Raises HttpProblem 406 if none is accepted."""
    for name, value in scope["headers"]:
        if name == b"accept":
            return _chosen(value.decode("latin-1").lower())
    return CONTENT_TYPE


def _chosen(accept: str) -> str:
    if not accept.strip():
        return CONTENT_TYPE
    weights = dict.fromkeys(_OFFERED, 0.0)
    for part in accept.split(","):
        media_range, *parameters = (each.strip() for each in part.split(";"))
        for offered in _OFFERED:
            if _includes(media_range, offered):
                weights[offered] = max(weights[offered], _weight(parameters))
    # Of equals the first.
    best = max(_OFFERED, key=weights.__getitem__)
    if not weights[best]:
        raise HttpProblem(406, "HTTP 406 Not Acceptable")
    return best


def _includes(media_range: str, offered: str) -> bool:
    """`*/x` is no range, but some clients send it."""
    kind, _, subtype = media_range.partition("/")
    if media_range in _ANY or kind == "*":
        return True
    return media_range == offered or (kind == "application" and subtype == "*")


def _weight(parameters: list[str]) -> float:
    for each in parameters:
        name, _, value = each.partition("=")
        if name.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
