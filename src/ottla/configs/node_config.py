"""What a node is started with, and what it runs with once dynamic configs are laid over it.

The properties are those of Kafka's `server.properties`. A node that is given nothing but a data
directory and an address is broker and controller of its own.
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
from ottla.configs.node_listeners import NodeListeners
from ottla.configs.node_validation import validate_node_values
from ottla.configs.setting import Setting
from ottla.configs.synonyms import broker_definition
from ottla.configs.topic_config import ConfigValues, EffectiveTopicConfig, topic_defaults
from ottla.configs.value import ConfigValue

# What Kafka asks every node to say, and one that stands alone need not.
_STANDALONE: Final = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
}
_DEFINITIONS: Final = {**BROKER_CONFIGS, **DYNAMIC_BROKER_CONFIGS}
_DEFAULTS: Final = {name: definition.default for name, definition in _DEFINITIONS.items()}


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """Typed values by item (`config["num.partitions"]`) and by attribute; valid from the start.

    `unknown` are properties that no config of Kafka's has: kept, described, and without effect.
    `ignored` are stored dynamic configs that cannot apply, with the reason; the rest do apply.
    """

    layers: ConfigLayers
    listeners: NodeListeners
    unknown: tuple[str, ...]
    ignored: Mapping[str, str]
    _values: ConfigValues = field(repr=False)
    _topic_defaults: EffectiveTopicConfig = field(repr=False)

    @classmethod
    def of(
        cls,
        properties: Mapping[str, str],
        *,
        data_dir: str | None = None,
        listen: str | None = None,
    ) -> NodeConfig:
        """`data_dir` and `listen` (HOST:PORT) go before what the properties say.

        Raises InvalidConfigError, whose message names the property that is wrong.
        """
        static = {**_STANDALONE, **properties}
        if "broker.id" in properties and "node.id" not in properties:
            static["node.id"] = properties["broker.id"]
        static.setdefault("broker.id", static["node.id"])
        if data_dir is not None:
            static["log.dirs"] = data_dir
        if listen is not None:
            static["listeners"] = f"PLAINTEXT://{listen}"
        return cls._of_layers(ConfigLayers(static), ignored={})

    @classmethod
    def from_properties(
        cls, text: str, *, data_dir: str | None = None, listen: str | None = None
    ) -> NodeConfig:
        """From a properties file's text. Java reads such files as ISO 8859-1."""
        return cls.of(parse_properties(text), data_dir=data_dir, listen=listen)

    def with_dynamic(
        self, *, cluster: Mapping[str, str], broker: Mapping[str, str]
    ) -> NodeConfig:
        """The same node with other dynamic configs: those of all brokers and those of this one.

        Raises InvalidConfigError if they make no sense together; the node then stays as it is.
        """
        ignored = {
            **dynamic_refusals(cluster, per_broker=False),
            **dynamic_refusals(broker, per_broker=True),
        }
        layers = ConfigLayers(
            self.layers.static,
            dynamic_default={k: v for k, v in cluster.items() if k not in ignored},
            dynamic_broker={k: v for k, v in broker.items() if k not in ignored},
        )
        return self._of_layers(layers, ignored=ignored)

    @classmethod
    def _of_layers(cls, layers: ConfigLayers, *, ignored: Mapping[str, str]) -> NodeConfig:
        texts = layers.merged()
        given = {
            name: definition.parse(text)
            for name, text in texts.items()
            if (definition := _DEFINITIONS.get(name)) is not None
        }
        values = {**_DEFAULTS, **given}
        validate_node_values(values)
        return cls(
            layers=layers,
            listeners=NodeListeners.of(values, given=given.keys()),
            unknown=tuple(sorted(name for name in texts if broker_definition(name) is None)),
            ignored=ignored,
            _values=values,
            _topic_defaults=EffectiveTopicConfig.of({}, defaults=topic_defaults(values)),
        )

    def __getitem__(self, name: str) -> ConfigValue:
        return self._values[name]

    def topic_config(self, overrides: Mapping[str, str]) -> EffectiveTopicConfig:
        """A topic's configs where it has these of its own. Those without any share one."""
        return self._topic_defaults.with_overrides(overrides) if overrides else self._topic_defaults
