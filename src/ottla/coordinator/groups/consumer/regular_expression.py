"""Regular expressions that stand for topics, in the syntax of RE2 that Kafka uses."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ottla.coordinator.groups.consumer.pattern import Pattern, PatternError
from ottla.model import ErrorCode, KafkaError

# With what they have learned of names, some ten megabytes.
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
