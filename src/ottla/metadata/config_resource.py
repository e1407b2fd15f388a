"""What settings belong to: a topic, a broker, all brokers, a group, a client's metrics."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple


class ResourceType(IntEnum):
    """Kafka's numbers."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """A type that Ottla does not know stays the number it is."""

    type: int
    name: str


# The defaults of all brokers are the settings of the broker without a name.
ALL_BROKERS: Final = ConfigResource(ResourceType.BROKER, "")


def topic_resource(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


def broker_resource(broker_id: int) -> ConfigResource:
    return ConfigResource(ResourceType.BROKER, str(broker_id))
