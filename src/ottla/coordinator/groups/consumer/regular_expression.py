"""Regular expressions that match topic names, in RE2 syntax as in Kafka."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ottla.coordinator.groups.consumer.pattern import Pattern, PatternError
from ottla.model import ErrorCode, KafkaError

# About ten megabytes, including their automata.
_COMPILED_MAX: Final = 64


def check_regex(regex: str) -> None:
    compiled(regex)


@lru_cache(maxsize=_COMPILED_MAX)
def compiled(regex: str) -> Pattern:
    try:
        return Pattern(regex)
    except PatternError as error:
        raise KafkaError(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}",
        ) from error
