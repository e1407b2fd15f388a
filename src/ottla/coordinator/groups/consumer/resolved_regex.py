"""What a regular expression of a consumer group stands for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics that a regular expression stands for, as of an offset of the metadata."""

    topics: frozenset[str]
    version: int
    timestamp: int
