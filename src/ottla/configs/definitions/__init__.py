"""All configs that Kafka 4.3 defines for topics, groups, client metrics and brokers, by subject.

Names that start with `ottla.` are Ottla's own.
"""

from ottla.configs.definitions.broker import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    DYNAMIC_SECURITY_CONFIGS,
    LISTENER_CONFIGS,
    NODE_SECURITY_NAMES,
)
from ottla.configs.definitions.client_metrics import CLIENT_METRICS_CONFIGS
from ottla.configs.definitions.group_overrides import GROUP_CONFIGS
from ottla.configs.definitions.topic import TOPIC_CONFIGS

__all__ = [
    "BROKER_CONFIGS",
    "CLIENT_METRICS_CONFIGS",
    "DYNAMIC_BROKER_CONFIGS",
    "DYNAMIC_SECURITY_CONFIGS",
    "GROUP_CONFIGS",
    "LISTENER_CONFIGS",
    "NODE_SECURITY_NAMES",
    "TOPIC_CONFIGS",
]
