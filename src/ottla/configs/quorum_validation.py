"""Validates combinations of roles, listeners and voters, with Kafka's rules.

There is one exception: a combined broker and controller without any quorum config, which Kafka
rejects, is a standalone node. It needs no controller listener either.
"""

from __future__ import annotations

from typing import Final

from ottla.configs.errors import InvalidConfigError
from ottla.configs.node_listeners import NodeListeners
from ottla.configs.node_settings import NodeSettings

_NOWHERE: Final = "0.0.0.0"  # noqa: S104 - rejected, because no node can connect to it


def validate_quorum(node: NodeSettings, listeners: NodeListeners) -> None:
    """Raises InvalidConfigError for the first combination that cannot work."""
    if node.is_standalone:
        _require(
            node.is_broker and node.is_controller,
            f"process.roles={','.join(node.process_roles)} needs controllers on other nodes: name "
            "them in controller.quorum.bootstrap.servers",
        )
        return
    voter_ids = [voter.id for voter in node.controller_quorum_voters]
    for voter in node.controller_quorum_voters:
        _require(
            voter.host != _NOWHERE,
            f"controller.quorum.voters has voter {voter.id} at {_NOWHERE}, which no node can "
            "connect to; write an address that the others can reach",
        )
    if node.is_controller:
        _validate_controller(node, listeners, voter_ids)
    else:
        _validate_broker_only(node, listeners, voter_ids)


def _validate_controller(
    node: NodeSettings, listeners: NodeListeners, voter_ids: list[int]
) -> None:
    _require(
        not voter_ids or node.node_id in voter_ids,
        f"node {node.node_id} is a controller, but controller.quorum.voters has only "
        f"{', '.join(map(str, voter_ids))}; add it there, or remove controller from process.roles",
    )
    own = {listener.name for listener in listeners.controller}
    for name in listeners.controller_names:
        _require(
            name in own,
            f"controller.listener.names has {name}, but listeners does not: add a listener for "
            f"it, for example {name}://:9093",
        )
    _require(
        node.is_broker or not listeners.broker,
        "process.roles=controller does not use the listeners "
        f"{', '.join(listener.name for listener in listeners.broker)}; remove them from "
        "listeners, or add them to controller.listener.names",
    )


def _validate_broker_only(
    node: NodeSettings, listeners: NodeListeners, voter_ids: list[int]
) -> None:
    _require(
        node.node_id not in voter_ids,
        f"node {node.node_id} is in controller.quorum.voters, but its process.roles does not "
        "contain controller; add controller there, or remove the node from "
        "controller.quorum.voters",
    )
    _require(
        not listeners.controller,
        f"listeners has {', '.join(listener.name for listener in listeners.controller)}, which "
        "controller.listener.names reserves for controllers, but process.roles=broker runs none; "
        "remove it from listeners",
    )


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise InvalidConfigError(message)
