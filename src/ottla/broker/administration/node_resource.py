"""Config resources named by a broker id. A broker serves only its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.listener_tls import open_tls
from ottla.configs import (
    ConfigResource,
    ConfigResourceType,
    NodeConfig,
    apply_changes,
    validate_broker_configs,
)
from ottla.model import ErrorCode, KafkaError, NodeId

# In the names of the TLS configs of a listener.
_TLS: Final = ".ssl."


def check_is_this_node(name: str, node_id: NodeId) -> None:
    """Raises KafkaError (INVALID_REQUEST) if `name` is another broker's id or not an integer."""
    if not (name.isascii() and name.isdecimal()):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name!r}"
        )
    if name != str(node_id):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {node_id}, but received {name}",
        )


def check_own_configs(
    cluster: ClusterView,
    changes: Callable[[ConfigResource, Mapping[str, str]], Mapping[str, str | None]],
) -> None:
    """Raises KafkaError if this broker's configs would be invalid after `changes`. The controller
    cannot check that, because it has neither the broker's static configs nor its files."""
    resource = ConfigResource(ConfigResourceType.BROKER, str(cluster.node_id))
    current = cluster.image.configs_of(resource)
    changed = changes(resource, current)
    configs = apply_changes(current, changed)
    proposed = validate_broker_configs(configs, node=cluster.config, per_broker=True)
    if any(_TLS in name for name in changed):
        _check_stores(proposed)


def _check_stores(config: NodeConfig) -> None:
    """Stores that cannot be used are refused, because with them the node would not start again."""
    for listener in (*config.listeners.broker, *config.listeners.controller):
        tls = config.listener_security[listener.name].tls
        if tls is None:
            continue
        try:
            open_tls(listener.name, tls, is_server=True)
        except OSError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from None
