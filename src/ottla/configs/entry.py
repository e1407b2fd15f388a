"""An entry of DescribeConfigs: a config's value and its source."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ottla.configs.value import ConfigType


class ConfigSource(IntEnum):
    """Where a value was set. For brokers and topics, 1 to 5 are in order of precedence."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


class ConfigSynonym(NamedTuple):
    """One source of a value. The first synonym of an entry gives the effective value."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """`value` is None if the config has no value or is sensitive."""

    name: str
    value: str | None
    type: ConfigType
    source: ConfigSource
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[ConfigSynonym, ...]
