"""Names of the same setting: a topic config and the broker configs that it defaults to.

For example, `segment.ms` defaults to the broker's `log.roll.ms`, or else to its `log.roll.hours`.
Broker configs have synonyms among themselves too: times in other units, and
`listener.name.<listener>.<config>`, which overrides `<config>` for that listener.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.configs.definition import ConfigDefinition
from ottla.configs.definitions import BROKER_CONFIGS, DYNAMIC_BROKER_CONFIGS
from ottla.configs.tenant_configs import tenant_definition

_MINUTE_MS: Final = 60_000
_HOUR_MS: Final = 3_600_000


class BrokerSynonym(NamedTuple):
    """A broker config, and the factor that converts its value to the topic config's unit."""

    name: str
    factor: int = 1


_ROLL: Final = (BrokerSynonym("log.roll.ms"), BrokerSynonym("log.roll.hours", _HOUR_MS))
_JITTER: Final = (
    BrokerSynonym("log.roll.jitter.ms"),
    BrokerSynonym("log.roll.jitter.hours", _HOUR_MS),
)
_RETENTION: Final = (
    BrokerSynonym("log.retention.ms"),
    BrokerSynonym("log.retention.minutes", _MINUTE_MS),
    BrokerSynonym("log.retention.hours", _HOUR_MS),
)
_FLUSH: Final = (
    BrokerSynonym("log.flush.interval.ms"),
    BrokerSynonym("log.flush.scheduler.interval.ms"),
)

# The first synonym with a value is a topic config's default. A topic config that is not in this
# table has no broker config.
TOPIC_SYNONYMS: Final[Mapping[str, tuple[BrokerSynonym, ...]]] = {
    "cleanup.policy": (BrokerSynonym("log.cleanup.policy"),),
    "compression.gzip.level": (BrokerSynonym("compression.gzip.level"),),
    "compression.lz4.level": (BrokerSynonym("compression.lz4.level"),),
    "compression.type": (BrokerSynonym("compression.type"),),
    "compression.zstd.level": (BrokerSynonym("compression.zstd.level"),),
    "delete.retention.ms": (BrokerSynonym("log.cleaner.delete.retention.ms"),),
    "file.delete.delay.ms": (BrokerSynonym("log.segment.delete.delay.ms"),),
    "flush.messages": (BrokerSynonym("log.flush.interval.messages"),),
    "flush.ms": _FLUSH,
    "index.interval.bytes": (BrokerSynonym("log.index.interval.bytes"),),
    "local.retention.bytes": (BrokerSynonym("log.local.retention.bytes"),),
    "local.retention.ms": (BrokerSynonym("log.local.retention.ms"),),
    "max.compaction.lag.ms": (BrokerSynonym("log.cleaner.max.compaction.lag.ms"),),
    "max.message.bytes": (BrokerSynonym("message.max.bytes"),),
    "message.timestamp.after.max.ms": (BrokerSynonym("log.message.timestamp.after.max.ms"),),
    "message.timestamp.before.max.ms": (BrokerSynonym("log.message.timestamp.before.max.ms"),),
    "message.timestamp.type": (BrokerSynonym("log.message.timestamp.type"),),
    "min.cleanable.dirty.ratio": (BrokerSynonym("log.cleaner.min.cleanable.ratio"),),
    "min.compaction.lag.ms": (BrokerSynonym("log.cleaner.min.compaction.lag.ms"),),
    "min.insync.replicas": (BrokerSynonym("min.insync.replicas"),),
    "ottla.delete.retention.ms": (BrokerSynonym("ottla.delete.retention.ms"),),
    "ottla.record.validation": (BrokerSynonym("ottla.record.validation"),),
    "preallocate": (BrokerSynonym("log.preallocate"),),
    "retention.bytes": (BrokerSynonym("log.retention.bytes"),),
    "retention.ms": _RETENTION,
    "segment.bytes": (BrokerSynonym("log.segment.bytes"),),
    "segment.index.bytes": (BrokerSynonym("log.index.size.max.bytes"),),
    "segment.jitter.ms": _JITTER,
    "segment.ms": _ROLL,
    "unclean.leader.election.enable": (BrokerSynonym("unclean.leader.election.enable"),),
}

_SAME_IN_OTHER_UNITS: Final[Mapping[str, tuple[str, ...]]] = {
    synonym.name: tuple(name for name, _ in synonyms)
    for synonyms in (_ROLL, _JITTER, _RETENTION)
    for synonym in synonyms
}
# The flush interval defaults to the scheduler's interval, but not the reverse.
_BROKER_SYNONYMS: Final = {
    **_SAME_IN_OTHER_UNITS,
    _FLUSH[0].name: tuple(name for name, _ in _FLUSH),
}

_LISTENER_CONFIG: Final = re.compile(
    r"listener\.name\.(?P<listener>[^.]*)\.(?P<base>.*)", re.DOTALL
)
# These can have a SASL mechanism between the listener's name and their own name.
_MECHANISM_CONFIGS: Final = (
    "connections.max.reauth.ms",
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
)


def broker_synonyms(name: str) -> tuple[str, ...]:
    """The broker configs of the same setting, in order of precedence."""
    return _BROKER_SYNONYMS.get(name) or (name,)


def listener_base_name(name: str) -> str | None:
    """The part after `listener.name.<listener>.`, or None without that prefix."""
    match = _LISTENER_CONFIG.fullmatch(name)
    return match["base"] if match else None


def listener_of(name: str) -> str | None:
    """The listener's name in `listener.name.<listener>.<config>`, or None without that prefix."""
    match = _LISTENER_CONFIG.fullmatch(name)
    return match["listener"] if match else None


def described_synonyms(name: str) -> tuple[str, ...]:
    """The synonyms of a broker config; for a listener's config, itself and the shared config."""
    base = listener_base_name(name)
    if base is None:
        return broker_synonyms(name)
    shared = [config for config in _MECHANISM_CONFIGS if base.endswith(config)]
    return (name, shared[0] if shared else base)


def broker_definition(name: str) -> ConfigDefinition | None:
    """The definition of a broker config or of a listener's config; None for an unknown name."""
    return (
        BROKER_CONFIGS.get(name)
        or DYNAMIC_BROKER_CONFIGS.get(name)
        or BROKER_CONFIGS.get(described_synonyms(name)[-1])
        or _mechanism_definition(name)
        or tenant_definition(name)
    )


def _mechanism_definition(name: str) -> ConfigDefinition | None:
    """As in Kafka, any config may have a mechanism between the listener's name and its own."""
    _mechanism, _, config = (listener_base_name(name) or "").partition(".")
    return BROKER_CONFIGS.get(config)
