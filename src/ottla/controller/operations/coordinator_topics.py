"""What administrators must not do to the topics that coordinators keep their state in.

Apache Kafka allows all of it, and loses the state: records older than a week are deleted from a
topic that is not compacted, and with another number of partitions a group or a transactional id
belongs to another partition than its records are in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs import InvalidConfigError
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import COORDINATOR_TOPICS

_POLICY: Final = "cleanup.policy"
_COMPACT: Final = "compact"


def check_deletable(name: str) -> None:
    """Raises INVALID_TOPIC_EXCEPTION if the topic is not to be deleted."""
    if name in COORDINATOR_TOPICS:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION, f"The internal topic {name} cannot be deleted."
        )


def check_growable(name: str) -> None:
    """Raises INVALID_TOPIC_EXCEPTION if the topic's number of partitions is fixed."""
    if name in COORDINATOR_TOPICS:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"The number of partitions of the internal topic {name} cannot be changed.",
        )


def check_configs(name: str, configs: Mapping[str, str]) -> None:
    """Raises INVALID_CONFIG if the topic is to be compacted and these configs do not say so."""
    if name in COORDINATOR_TOPICS and configs.get(_POLICY) != _COMPACT:
        raise InvalidConfigError(f"The internal topic {name} has to have {_POLICY}={_COMPACT}.")
