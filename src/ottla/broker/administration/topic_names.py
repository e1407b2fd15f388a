"""What a topic's name alone tells about it."""

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
    """What to answer about a topic that there is not: it may be that there can be none."""
    if is_valid_topic_name(name):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.INVALID_TOPIC_EXCEPTION
