"""Kafka's topic, group and broker configs: definitions, parsing, and effective values."""

from ottla.configs.alteration import (
    ConfigAlteration,
    ConfigOperation,
    alter_configs,
    altered_value,
    apply_changes,
    replace_configs,
)
from ottla.configs.broker_validation import validate_broker_configs, validate_dynamic_configs
from ottla.configs.client_metrics import (
    ClientMetricsSubscription,
    validate_client_metrics_configs,
)
from ottla.configs.definition import ConfigDefinition, Importance, UpdateMode
from ottla.configs.definitions import (
    BROKER_CONFIGS,
    DYNAMIC_BROKER_CONFIGS,
    GROUP_CONFIGS,
    TOPIC_CONFIGS,
)
from ottla.configs.description import (
    describe_broker,
    describe_brokers_default,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from ottla.configs.entry import ConfigEntry, ConfigSource, ConfigSynonym
from ottla.configs.errors import InvalidConfigError
from ottla.configs.group_config import effective_group_number, validate_group_configs
from ottla.configs.layers import ConfigLayers
from ottla.configs.listener_security import (
    ListenerSecurity,
    OAuthSettings,
    SaslSettings,
    Store,
    TlsSettings,
    TokenRetrieval,
    TokenValidation,
)
from ottla.configs.listeners import ConfiguredListener
from ottla.configs.node_config import NodeConfig
from ottla.configs.node_listeners import NodeListeners
from ottla.configs.resource import BROKERS_DEFAULT, ConfigResource, ConfigResourceType
from ottla.configs.topic_config import EffectiveTopicConfig
from ottla.configs.topic_validation import validate_topic_configs
from ottla.configs.value import ConfigType, ConfigValue, Password

__all__ = [
    "BROKERS_DEFAULT",
    "BROKER_CONFIGS",
    "DYNAMIC_BROKER_CONFIGS",
    "GROUP_CONFIGS",
    "TOPIC_CONFIGS",
    "ClientMetricsSubscription",
    "ConfigAlteration",
    "ConfigDefinition",
    "ConfigEntry",
    "ConfigLayers",
    "ConfigOperation",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigType",
    "ConfigValue",
    "ConfiguredListener",
    "EffectiveTopicConfig",
    "Importance",
    "InvalidConfigError",
    "ListenerSecurity",
    "NodeConfig",
    "NodeListeners",
    "OAuthSettings",
    "Password",
    "SaslSettings",
    "Store",
    "TlsSettings",
    "TokenRetrieval",
    "TokenValidation",
    "UpdateMode",
    "alter_configs",
    "altered_value",
    "apply_changes",
    "describe_broker",
    "describe_brokers_default",
    "describe_client_metrics",
    "describe_group",
    "describe_topic",
    "effective_group_number",
    "replace_configs",
    "validate_broker_configs",
    "validate_client_metrics_configs",
    "validate_dynamic_configs",
    "validate_group_configs",
    "validate_topic_configs",
]
