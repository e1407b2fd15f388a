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
            f"process.roles={','.join(node.process_roles)} needs other nodes: name the controllers "
            "in controller.quorum.bootstrap.servers",
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
        f"node {node.node_id} is a controller and missing in controller.quorum.voters, which has "
        f"{', '.join(map(str, voter_ids))}; add it there, or take controller out of process.roles",
    )
    own = {listener.name for listener in listeners.controller}
    for name in listeners.controller_names:
        _require(
            name in own,
            f"controller.listener.names has {name}, and listeners has not: a controller needs such "
            f"a listener, for example {name}://:9093",
        )
    _require(
        node.is_broker or not listeners.broker,
        "process.roles=controller leaves no use for the listeners "
        f"{', '.join(listener.name for listener in listeners.broker)}; take them out of listeners, "
        "or name them in controller.listener.names",
    )


def _validate_broker_only(
    node: NodeSettings, listeners: NodeListeners, voter_ids: list[int]
) -> None:
    _require(
        node.node_id not in voter_ids,
        f"node {node.node_id} votes by controller.quorum.voters, and process.roles does not make "
        "it a controller; add controller there, or take it out of the voters",
    )
    _require(
        not listeners.controller,
        f"listeners has {', '.join(listener.name for listener in listeners.controller)}, which "
        "controller.listener.names says is for controllers, and process.roles=broker makes none",
    )


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise InvalidConfigError(message)
