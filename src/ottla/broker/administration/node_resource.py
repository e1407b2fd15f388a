"""Config resources named by a broker id. A broker serves only its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ottla.broker.control.cluster_view import ClusterView
from ottla.configs import (
    ConfigResource,
    ConfigResourceType,
    apply_changes,
    validate_broker_configs,
)
from ottla.model import ErrorCode, KafkaError, NodeId


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
    cannot check that, because it does not have the broker's static configs."""
    resource = ConfigResource(ConfigResourceType.BROKER, str(cluster.node_id))
    current = cluster.image.configs_of(resource)
    configs = apply_changes(current, changes(resource, current))
    validate_broker_configs(configs, node=cluster.config, per_broker=True)
