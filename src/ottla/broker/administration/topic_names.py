"""Checks of topic names."""

from __future__ import annotations

from ottla.controller.operations.topic_names import check_name
from ottla.model import ErrorCode, KafkaError


def is_valid_topic_name(name: str) -> bool:
    try:
        check_name(name)
    except KafkaError:
        return False
    return True


def unknown_topic_error(name: str) -> ErrorCode:
    """The error for a topic that does not exist: INVALID_TOPIC_EXCEPTION if its name is invalid."""
    if is_valid_topic_name(name):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.INVALID_TOPIC_EXCEPTION
