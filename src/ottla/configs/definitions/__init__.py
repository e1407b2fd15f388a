"""Every config that Kafka 4.3 declares for topics, groups and brokers, in tables by subject.

Names that begin with `ottla.` are Ottla's own.
"""

from ottla.configs.definitions.broker import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    DYNAMIC_SECURITY_CONFIGS,
)
from ottla.configs.definitions.group_overrides import GROUP_CONFIGS
from ottla.configs.definitions.topic import TOPIC_CONFIGS

__all__ = [
    "BROKER_CONFIGS",
    "DYNAMIC_BROKER_CONFIGS",
    "DYNAMIC_SECURITY_CONFIGS",
    "GROUP_CONFIGS",
    "TOPIC_CONFIGS",
]
