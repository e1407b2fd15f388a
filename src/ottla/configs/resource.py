"""The resources that have configs: a topic, a group, a subscription to client metrics, a broker, or
(with no name) all brokers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.configs.definition import Definitions
from ottla.configs.definitions import (
    BROKER_CONFIGS,
    CLIENT_METRICS_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
)


class ConfigResourceType(IntEnum):
    """Kafka's codes; any other code is UNKNOWN."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32

    @classmethod
    def _missing_(cls, value: object) -> ConfigResourceType:  # noqa: ARG003
        return cls.UNKNOWN


class ConfigResource(NamedTuple):
    type: ConfigResourceType
    name: str


BROKERS_DEFAULT: Final = ConfigResource(ConfigResourceType.BROKER, "")

RESOURCE_DEFINITIONS: Final[Mapping[ConfigResourceType, Definitions]] = {
    ConfigResourceType.TOPIC: TOPIC_CONFIGS,
    ConfigResourceType.BROKER: BROKER_CONFIGS,
    ConfigResourceType.GROUP: GROUP_CONFIGS,
    ConfigResourceType.CLIENT_METRICS: CLIENT_METRICS_CONFIGS,
}
