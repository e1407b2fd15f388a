"""A config as DescribeConfigs shows it: its value, and where that comes from."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ottla.configs.value import ConfigType


class ConfigSource(IntEnum):
    """Where a value was set, from what counts most to what counts least for brokers and topics."""

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
    """One of the places that give a value; the first of an entry's is the one that counts."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """`value` is None where there is none, and where it is sensitive."""

    name: str
    value: str | None
    type: ConfigType
    source: ConfigSource
    is_read_only: bool
    is_sensitive: bool
    synonyms: tuple[ConfigSynonym, ...]
