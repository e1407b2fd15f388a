"""The resolved topics of a consumer group's regular expression."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics that a regular expression matches. This node sets both `version` and `timestamp`
    to the time of resolving, in milliseconds."""

    topics: frozenset[str]
    version: int
    timestamp: int
