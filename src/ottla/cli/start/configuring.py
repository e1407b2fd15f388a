"""The configuration of a node: its properties file, overridden by the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ottla.configs import InvalidConfigError, NodeConfig
from ottla.configs.java_properties import parse_properties
from ottla.configs.near_names import unknown_config_text
from ottla.configs.synonyms import broker_definition
from ottla.runtime.unreadable_file import unreadable_text

DEFAULT_LISTEN: Final = "127.0.0.1:9092"
# What `configure_node` raises.
CONFIGURATION_ERRORS: Final = (InvalidConfigError, ValueError, OSError)


def configure_node(
    data_dir: Path | None,
    listen: str | None,
    advertise: str | None,
    config: Path | None,
    metrics: str | None,
    settings: list[str],
) -> NodeConfig:
    """Raises one of `CONFIGURATION_ERRORS`."""
    properties = {} if config is None else _read_properties(config)
    given = _parse_settings(settings)
    properties |= given
    if listen is None and "listeners" not in properties:
        listen = DEFAULT_LISTEN
    if data_dir is None and not properties.keys() & {"log.dirs", "log.dir"}:
        raise ValueError("no data directory; set it with --data-dir or log.dirs")
    if advertise is not None:
        properties["advertised.listeners"] = f"PLAINTEXT://{advertise}"
    if metrics is not None:
        properties["ottla.metrics.listener"] = metrics
    node_config = NodeConfig.of(
        properties,
        data_dir=None if data_dir is None else str(data_dir.resolve()),
        listen=listen,
    )
    # A file may hold settings of other programs, as with Kafka; on the command line it is a typo.
    for name in node_config.unknown:
        if name in given:
            raise ValueError(f"--set {name}: {unknown_config_text(name)}")
    return node_config


def configuration_error_text(error: Exception) -> str:
    return error.message if isinstance(error, InvalidConfigError) else str(error)


def has_secrets(config: NodeConfig) -> bool:
    definitions = (broker_definition(name) for name in config.layers.static)
    return any(each is not None and each.is_sensitive for each in definitions)


def _read_properties(file: Path) -> dict[str, str]:
    try:
        return parse_properties(file.read_text("latin-1"))
    except OSError as error:
        remedy = "give --config the path of the node's server.properties"
        raise ValueError(unreadable_text(file, error, remedy=remedy)) from None


def _parse_settings(settings: list[str]) -> dict[str, str]:
    given = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"--set {setting} has no '='; write --set name=value")
        given[name.strip()] = value.strip()
    return given
