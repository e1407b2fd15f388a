"""Regular expressions that stand for topics, in the syntax of RE2 that Kafka uses.

They come from clients, so they are matched without backtracking (pattern.py): in a time that is
the length of the name times that of the expression, whatever both are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ottla.coordinator.groups.consumer.pattern import Pattern, PatternError
from ottla.model import ErrorCode, KafkaError


def check_regex(regex: str) -> None:
    _compiled(regex)


def matching(regex: str, names: Iterable[str]) -> frozenset[str]:
    """The names that the expression matches as a whole."""
    pattern = _compiled(regex)
    return frozenset(name for name in names if pattern.matches(name))


@lru_cache(maxsize=256)
def _compiled(regex: str) -> Pattern:
    try:
        return Pattern(regex)
    except PatternError as error:
        raise KafkaError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}",
        ) from error
