"""Restrictions on the topics in which coordinators store their state.

Apache Kafka allows all of these changes and then loses the state: without compaction, records older
than a week are deleted, and with another number of partitions a group or a transactional id maps to
another partition than the one with its records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs import InvalidConfigError
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import COORDINATOR_TOPICS, is_internal_topic

_POLICY: Final = "cleanup.policy"
_COMPACT: Final = "compact"


def check_deletable(name: str) -> None:
    """Raises INVALID_TOPIC_EXCEPTION if the topic must not be deleted."""
    if is_internal_topic(name):
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION, f"The internal topic {name} cannot be deleted."
        )


def check_growable(name: str) -> None:
    """Raises INVALID_TOPIC_EXCEPTION if the number of partitions of the topic is fixed."""
    if is_internal_topic(name):
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"The number of partitions of the internal topic {name} cannot be changed.",
        )


def check_configs(name: str, configs: Mapping[str, str]) -> None:
    """Raises INVALID_CONFIG if the topic must be compacted and these configs do not compact it."""
    if name in COORDINATOR_TOPICS and configs.get(_POLICY) != _COMPACT:
        raise InvalidConfigError(f"The internal topic {name} has to have {_POLICY}={_COMPACT}.")
