"""The entries of DescribeConfigs (KIP-133, KIP-226): all configs, with their sources.

Internal configs are hidden unless they are set. An unknown name may be a plugin's secret, so its
value is not shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ottla.configs.definition import ConfigDefinition, Definitions
from ottla.configs.definitions import (
    BROKER_CONFIGS,
    CLIENT_METRICS_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
)
from ottla.configs.entry import ConfigEntry, ConfigSource, ConfigSynonym
from ottla.configs.group_config import GROUP_SYNONYMS, default_group_value, own_group_values
from ottla.configs.node_config import NodeConfig
from ottla.configs.synonyms import TOPIC_SYNONYMS, broker_definition
from ottla.configs.tenant_configs import is_tenant_config
from ottla.configs.topic_config import EffectiveTopicConfig
from ottla.configs.value import ConfigType, ConfigValues, format_value


def describe_topic(
    topic: EffectiveTopicConfig, *, node: NodeConfig, names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """A topic's configs on a node: those in `names`, or all if it is None or empty."""
    shown = _shown(TOPIC_CONFIGS, also=topic.overrides, names=names)
    return [_topic_entry(name, topic, node) for name in shown]


def describe_group(
    overrides: Mapping[str, str], *, node: NodeConfig, names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """A group's configs on a node, whether or not the group exists."""
    own = own_group_values(overrides)
    shown = _shown(GROUP_CONFIGS, also=overrides, names=names)
    return [_group_entry(name, own, node, is_own=name in overrides) for name in shown]


def describe_client_metrics(
    configs: Mapping[str, str], *, names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """The configs of a subscription, whether or not it exists."""
    shown = _shown(CLIENT_METRICS_CONFIGS, also=configs, names=names)
    return [_client_metrics_entry(name, configs.get(name)) for name in shown]


def describe_broker(node: NodeConfig, *, names: Collection[str] | None = None) -> list[ConfigEntry]:
    """The node's current configs."""
    texts = node.layers.merged()
    entries = []
    for name in _shown(BROKER_CONFIGS, also=texts, names=names):
        value = format_value(node[name]) if name in BROKER_CONFIGS else texts[name]
        entries.append(_broker_entry(name, value, _broker_synonyms(name, node)))
    return entries


def describe_brokers_default(
    node: NodeConfig, *, names: Collection[str] | None = None
) -> list[ConfigEntry]:
    """The dynamic configs of all brokers: the broker resource with an empty name."""
    texts = node.layers.dynamic_default
    entries = []
    for name in _shown({}, also=texts, names=names):
        shared = tuple(
            synonym
            for synonym in _broker_synonyms(name, node)
            if synonym.source is ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
        )
        entries.append(_broker_entry(name, texts[name], shared))
    return entries


def _shown(
    definitions: Definitions, *, also: Collection[str], names: Collection[str] | None
) -> list[str]:
    visible = (name for name, definition in definitions.items() if not definition.is_internal)
    shown = {*visible, *also}
    return sorted(shown.intersection(names) if names else shown)


def _topic_entry(name: str, topic: EffectiveTopicConfig, node: NodeConfig) -> ConfigEntry:
    definition = TOPIC_CONFIGS.get(name)
    is_sensitive = _is_sensitive(definition)
    value = format_value(topic[name]) if definition else None
    synonyms: tuple[ConfigSynonym, ...] = ()
    if name in topic.overrides:
        synonyms = (ConfigSynonym(name, value, ConfigSource.DYNAMIC_TOPIC_CONFIG),)
    if name in TOPIC_SYNONYMS:
        broker_name = TOPIC_SYNONYMS[name][0].name
        synonyms += node.layers.synonyms(broker_name, is_sensitive=is_sensitive)
    return _entry(name, value, definition, synonyms, is_read_only=False)


def _group_entry(name: str, own: ConfigValues, node: NodeConfig, *, is_own: bool) -> ConfigEntry:
    definition = GROUP_CONFIGS.get(name)
    if definition is None:
        value, default = None, None
    else:
        default = default_group_value(name, node.values)
        value = own.get(name, default)
    text = format_value(value)
    synonyms: tuple[ConfigSynonym, ...] = ()
    if is_own:
        synonyms = (ConfigSynonym(name, text, ConfigSource.DYNAMIC_GROUP_CONFIG),)
    synonym = GROUP_SYNONYMS.get(name)
    if synonym is not None:
        synonyms += node.layers.synonyms(synonym, is_sensitive=False)
    elif definition is not None:
        synonyms += (ConfigSynonym(name, format_value(default), ConfigSource.DEFAULT_CONFIG),)
    return _entry(name, text, definition, synonyms, is_read_only=False)


def _client_metrics_entry(name: str, own: str | None) -> ConfigEntry:
    definition = CLIENT_METRICS_CONFIGS.get(name)
    default = None if definition is None else definition.default_text
    synonyms: tuple[ConfigSynonym, ...] = ()
    if own is not None:
        synonyms = (ConfigSynonym(name, own, ConfigSource.CLIENT_METRICS_CONFIG),)
    value = default if own is None else own
    return _entry(name, value, definition, synonyms, is_read_only=False)


def _broker_synonyms(name: str, node: NodeConfig) -> tuple[ConfigSynonym, ...]:
    return node.layers.synonyms(name, is_sensitive=_is_sensitive(broker_definition(name)))


def _broker_entry(name: str, value: str | None, synonyms: tuple[ConfigSynonym, ...]) -> ConfigEntry:
    is_read_only = name not in DYNAMIC_BROKER_CONFIGS and not is_tenant_config(name)
    return _entry(name, value, broker_definition(name), synonyms, is_read_only=is_read_only)


def _entry(
    name: str,
    value: str | None,
    definition: ConfigDefinition | None,
    synonyms: tuple[ConfigSynonym, ...],
    *,
    is_read_only: bool,
) -> ConfigEntry:
    is_sensitive = _is_sensitive(definition)
    return ConfigEntry(
        name=name,
        value=None if is_sensitive else value,
        type=definition.type if definition else ConfigType.UNKNOWN,
        source=synonyms[0].source if synonyms else ConfigSource.DEFAULT_CONFIG,
        is_read_only=is_read_only,
        is_sensitive=is_sensitive,
        synonyms=synonyms,
    )


def _is_sensitive(definition: ConfigDefinition | None) -> bool:
    return definition is None or definition.is_sensitive
