"""Builds the security of a node's listeners, and of the controller listeners of other nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, cast

from ottla.configs.definitions import BROKER_CONFIGS, LISTENER_CONFIGS
from ottla.configs.listener_security import ListenerSecurity, SecurityProtocol
from ottla.configs.listener_values import ListenerValues
from ottla.configs.node_listeners import NodeListeners
from ottla.configs.node_settings import NodeSettings
from ottla.configs.sasl_settings import sasl_settings
from ottla.configs.support import is_default
from ottla.configs.synonyms import broker_definition, listener_of
from ottla.configs.tls_settings import tls_settings

_INTER_BROKER: Final = "sasl.mechanism.inter.broker.protocol"
_CONTROLLER: Final = "sasl.mechanism.controller.protocol"


def listener_security(
    node: NodeSettings, listeners: NodeListeners, texts: Mapping[str, str]
) -> dict[str, ListenerSecurity]:
    """The security by listener name. `texts` are all set configs.

    Raises InvalidConfigError for a listener that cannot work.
    """
    bound = {listener.name for listener in (*listeners.broker, *listeners.controller)}
    return {
        name: _security_of(
            ListenerValues.of(name, node.values, texts),
            cast("SecurityProtocol", protocol),
            is_bound=name in bound,
            client_mechanism_config=_client_mechanism_config(name, node, listeners),
        )
        for name, protocol in listeners.security_protocols.items()
    }


def listener_limits(
    config_name: str, listeners: NodeListeners, texts: Mapping[str, str]
) -> dict[str, int]:
    """The limit of each listener that has its own: `max.connections` or
    `max.connection.creation.rate`."""
    limits = {}
    for name, *_ in (*listeners.broker, *listeners.controller):
        config = f"listener.name.{name.lower()}.{config_name}"
        if config in texts:
            limit = BROKER_CONFIGS[config_name]._replace(name=config).parse(texts[config])
            assert isinstance(limit, int)
            limits[name] = limit
    return limits


def unused_listener_settings(
    texts: Mapping[str, str], security: Mapping[str, ListenerSecurity]
) -> Iterator[str]:
    """The names of TLS and SASL configs that differ from the default and that no listener of the
    node uses."""
    for name, text in texts.items():
        definition = broker_definition(name)
        if definition is None or definition.name not in LISTENER_CONFIGS:
            continue
        if is_default(definition, text):
            continue
        own = listener_of(name)
        listeners = [each for listener, each in security.items() if own in (None, listener.lower())]
        if definition.name.startswith(("ssl.", "ottla.ssl.")):
            is_used = any(each.tls for each in listeners)
        elif definition.name.startswith("sasl."):
            is_used = any(each.sasl for each in listeners)
        else:
            is_used = bool(listeners)
        if not is_used:
            yield name


def _security_of(
    listener: ListenerValues,
    protocol: SecurityProtocol,
    *,
    is_bound: bool,
    client_mechanism_config: str | None,
) -> ListenerSecurity:
    has_tls, has_sasl = protocol.endswith("SSL"), protocol.startswith("SASL")
    return ListenerSecurity(
        protocol,
        tls=tls_settings(listener, is_bound=is_bound, has_sasl=has_sasl) if has_tls else None,
        sasl=(
            sasl_settings(
                listener, is_bound=is_bound, client_mechanism_config=client_mechanism_config
            )
            if has_sasl
            else None
        ),
        principal_mapping_rules=listener.ssl_principal_mapping_rules,
    )


def _client_mechanism_config(name: str, node: NodeSettings, listeners: NodeListeners) -> str | None:
    """The config with the mechanism with which this node connects to others through a listener.

    A node that stands alone connects to no other.
    """
    if node.is_standalone:
        return None
    if name in listeners.controller_names:
        return _CONTROLLER if name == listeners.controller_names[0] else None
    is_inter_broker = node.is_broker and name == listeners.inter_broker_listener_name
    return _INTER_BROKER if is_inter_broker else None
