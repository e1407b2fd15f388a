"""The filters of DescribeClientQuotas: which entities match."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from ottla.model import ErrorCode, KafkaError
from ottla.quotas.entities import ENTITY_TYPES, IP, QuotaEntity


class MatchType(IntEnum):
    """What the name of a part of the entity must be."""

    EXACT = 0
    DEFAULT = 1
    # Any name, or the default.
    SPECIFIED = 2


class Component(NamedTuple):
    entity_type: str
    match_type: int
    match: str | None


class EntityFilter:
    """Raises a KafkaError for components that make no valid filter. A strict filter matches only
    entities without other parts."""

    def __init__(self, components: Iterable[Component], *, is_strict: bool) -> None:
        self._names: dict[str, str | None] = {}
        self._types: set[str] = set()
        self._is_strict = is_strict
        for component in components:
            self._add(component)
        kinds = self._names.keys() | self._types
        if IP in kinds and len(kinds) > 1:
            raise _invalid("a filter for addresses cannot name users or client ids")

    def matches(self, entity: QuotaEntity) -> bool:
        parts = dict(entity)
        if self._is_strict and len(parts) != len(self._names) + len(self._types):
            return False
        return self._types <= parts.keys() and all(
            kind in parts and parts[kind] == name for kind, name in self._names.items()
        )

    def _add(self, component: Component) -> None:
        kind, match_type, match = component
        if not kind:
            raise _invalid("the type of an entity must not be empty")
        if kind in self._names or kind in self._types:
            raise _invalid(f"the filter names the type {kind} twice")
        if kind not in ENTITY_TYPES:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION, f"{kind!r} is not a type of entity that has quotas"
            )
        if match_type not in list(MatchType):
            raise _invalid(f"there is no match type {match_type}")
        if (match is None) == (match_type == MatchType.EXACT):
            raise _invalid("a name must be given for an exact match, and for no other")
        if match_type == MatchType.SPECIFIED:
            self._types.add(kind)
        else:
            self._names[kind] = match


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
