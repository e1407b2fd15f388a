"""The resolved topics of a consumer group's regular expression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

_NO_VERSION: Final = -1


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics that a regular expression matched.

    `version` is the offset of the last metadata record that the node had applied when it resolved
    the expression, `timestamp` the time in milliseconds.
    """

    topics: frozenset[str]
    version: int
    timestamp: int

    @classmethod
    def from_record(cls, topics: frozenset[str], *, version: int, timestamp: int) -> Self:
        """Records of earlier releases have the time in both fields. Their version is ignored: it
        is above every offset, so Kafka would never resolve the expression again."""
        return cls(topics, _NO_VERSION if version == timestamp else version, timestamp)

    @property
    def has_version(self) -> bool:
        return self.version != _NO_VERSION
