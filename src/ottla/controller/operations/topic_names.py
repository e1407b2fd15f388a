"""Rules for topic names."""

from __future__ import annotations

import re
from typing import Final

from ottla.metadata import Topics
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import CLUSTER_METADATA

NAME_LENGTH_MAX: Final = 249

_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]*")


def check_new_name(name: str, topics: Topics) -> None:
    """Raises KafkaError if a new topic cannot have this name."""
    if name == CLUSTER_METADATA:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited."
        )
    if name in topics.by_name:
        raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    check_name(name)
    collision = topics.collision_with(name)
    if collision is not None:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topic: {collision}",
        )


def check_name(name: str) -> None:
    reason = _refusal(name)
    if reason is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def _refusal(name: str) -> str | None:
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > NAME_LENGTH_MAX:
        return f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    if _LEGAL.fullmatch(name) is None:
        return (
            f"'{name}' contains one or more characters other than "
            "ASCII alphanumerics, '.', '_' and '-'"
        )
    return None
