"""Every config that Kafka 4.3 declares for topics and brokers, in tables by what they are about."""

from ottla.configs.definitions.broker import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    DYNAMIC_SECURITY_CONFIGS,
)
from ottla.configs.definitions.topic import TOPIC_CONFIGS

__all__ = [
    "BROKER_CONFIGS",
    "DYNAMIC_BROKER_CONFIGS",
    "DYNAMIC_SECURITY_CONFIGS",
    "TOPIC_CONFIGS",
]
