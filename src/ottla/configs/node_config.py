"""A node's configs: its static properties, overridden by dynamic configs.

The properties are those of Kafka's `server.properties`. A node with only a data directory and an
address is a standalone broker and controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ottla.configs.definitions import BROKER_CONFIGS, DYNAMIC_BROKER_CONFIGS
from ottla.configs.dynamic_configs import dynamic_refusals
from ottla.configs.errors import InvalidConfigError
from ottla.configs.java_properties import parse_properties
from ottla.configs.layers import ConfigLayers
from ottla.configs.listener_security import PLAINTEXT_SECURITY, ListenerSecurity
from ottla.configs.listeners import parse_security_protocols
from ottla.configs.node_listeners import NodeListeners
from ottla.configs.node_security import (
    listener_limits,
    listener_security,
    unused_listener_settings,
)
from ottla.configs.node_settings import NodeSettings
from ottla.configs.node_validation import validate_node
from ottla.configs.quorum_validation import validate_quorum
from ottla.configs.support import refuse_unsupported_settings, settings_without_effect
from ottla.configs.synonyms import broker_definition
from ottla.configs.topic_config import EffectiveTopicConfig, topic_defaults

# Defaults for configs that Kafka requires and a standalone node does not need to set.
_STANDALONE: Final = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
}
_PROTOCOL_MAP: Final = "listener.security.protocol.map"
_DEFINITIONS: Final = {**BROKER_CONFIGS, **DYNAMIC_BROKER_CONFIGS}
_DEFAULTS: Final = {name: definition.default for name, definition in _DEFINITIONS.items()}


@dataclass(frozen=True, slots=True)
class NodeConfig(NodeSettings):
    """Immutable and always valid: creating an invalid one fails.

    `listener_security` has the listeners that this node binds and the controller listeners of other
    nodes, `listener_max_connections` and
    `listener_creation_rates` the listeners with a limit of their own.
    `unknown` are properties that Kafka does not define: kept, described, and without effect.
    `ignored` are stored dynamic configs that cannot be applied, with the reason.
    """

    layers: ConfigLayers
    listeners: NodeListeners
    listener_security: Mapping[str, ListenerSecurity] = field(repr=False)
    listener_max_connections: Mapping[str, int]
    listener_creation_rates: Mapping[str, int]
    topic_defaults: EffectiveTopicConfig
    unknown: tuple[str, ...]
    ignored: Mapping[str, str]

    @classmethod
    def of(
        cls,
        properties: Mapping[str, str],
        *,
        data_dir: str | None = None,
        listen: str | None = None,
    ) -> NodeConfig:
        """`data_dir` and `listen` (HOST:PORT) override the properties.

        Raises InvalidConfigError with the name of the invalid or unsupported property.
        """
        refuse_unsupported_settings(properties)
        static = {**_STANDALONE, **properties}
        if "node.id" not in properties and "broker.id" in properties:
            static["node.id"] = properties["broker.id"]
        static.setdefault("broker.id", static["node.id"])
        if data_dir is not None:
            static["log.dirs"] = data_dir
        if listen is not None:
            _refuse_replacing_secured(static)
            static["listeners"] = ",".join(
                [f"PLAINTEXT://{listen}", *_controller_listeners(static)]
            )
        return cls._of_layers(ConfigLayers(static), ignored={})

    @classmethod
    def from_properties(
        cls, text: str, *, data_dir: str | None = None, listen: str | None = None
    ) -> NodeConfig:
        """From the text of a properties file (Java reads such files as ISO 8859-1)."""
        return cls.of(parse_properties(text), data_dir=data_dir, listen=listen)

    def with_dynamic(self, *, cluster: Mapping[str, str], broker: Mapping[str, str]) -> NodeConfig:
        """A copy with these dynamic configs: those of all brokers, and this broker's own.

        Raises InvalidConfigError for an invalid combination; the current config stays valid.
        """
        not_cluster = dynamic_refusals(cluster, per_broker=False)
        not_broker = dynamic_refusals(broker, per_broker=True)
        layers = ConfigLayers(
            self.layers.static,
            dynamic_default={k: v for k, v in cluster.items() if k not in not_cluster},
            dynamic_broker={k: v for k, v in broker.items() if k not in not_broker},
        )
        return self._of_layers(layers, ignored={**not_cluster, **not_broker})

    @classmethod
    def _of_layers(cls, layers: ConfigLayers, *, ignored: Mapping[str, str]) -> NodeConfig:
        texts = layers.merged()
        given = {
            name: definition.parse(text)
            for name, text in texts.items()
            if (definition := _DEFINITIONS.get(name)) is not None
        }
        values = {**_DEFAULTS, **given}
        listeners = NodeListeners.of(values, given=given)
        node = cls(
            values=values,
            layers=layers,
            listeners=listeners,
            listener_security=listener_security(NodeSettings(values), listeners, texts),
            listener_max_connections=listener_limits("max.connections", listeners, texts),
            listener_creation_rates=listener_limits(
                "max.connection.creation.rate", listeners, texts
            ),
            topic_defaults=EffectiveTopicConfig.of({}, defaults=topic_defaults(values)),
            unknown=tuple(sorted(name for name in texts if broker_definition(name) is None)),
            ignored=ignored,
        )
        validate_node(node, node.topic_defaults)
        validate_quorum(node, node.listeners)
        return node

    def without_effect(self) -> tuple[str, ...]:
        """The settings that Ottla accepts and ignores, if they differ from the default."""
        texts = self.layers.merged()
        unused = unused_listener_settings(texts, self.listener_security)
        return tuple(sorted({*settings_without_effect(texts), *unused}))

    @property
    def inter_broker_security(self) -> ListenerSecurity:
        """With which this broker connects to other brokers."""
        # A node that is only a controller has no such listener, and connects to no broker.
        name = self.listeners.inter_broker_listener_name
        return self.listener_security.get(name, PLAINTEXT_SECURITY)

    @property
    def controller_security(self) -> ListenerSecurity:
        """With which this node connects to controllers."""
        # A node that stands alone may have no controller listener, and connects to none.
        name = self.listeners.controller_names[0]
        return self.listener_security.get(name, PLAINTEXT_SECURITY)

    def topic_config(self, overrides: Mapping[str, str]) -> EffectiveTopicConfig:
        """The effective configs of a topic. Topics without overrides share one object.

        Raises InvalidConfigError for an invalid value.
        """
        if not overrides:
            return self.topic_defaults
        return EffectiveTopicConfig.of(overrides, defaults=self.topic_defaults.defaults)


def _controller_listeners(static: Mapping[str, str]) -> list[str]:
    """The texts of the controller listeners."""
    names = {name.strip().upper() for name in static["controller.listener.names"].split(",")}
    listeners = (text.strip() for text in static.get("listeners", "").split(","))
    return [text for text in listeners if text.partition(":")[0].upper() in names]


def _refuse_replacing_secured(static: Mapping[str, str]) -> None:
    """An address on the command line, which is PLAINTEXT, must not replace a secured listener."""
    default = BROKER_CONFIGS[_PROTOCOL_MAP].default_text
    protocols = parse_security_protocols(static.get(_PROTOCOL_MAP, default or ""))
    for text in (text.strip() for text in static.get("listeners", "").split(",")):
        protocol = protocols.get(text.partition(":")[0].upper(), "PLAINTEXT")
        if protocol != "PLAINTEXT":
            raise InvalidConfigError(
                f"listeners has {text}, whose security protocol is {protocol}: an address on the "
                "command line would replace it with a PLAINTEXT listener; write the address in "
                "listeners instead"
            )
