"""A node with an authorizer and delegation tokens, and principals that ask it."""

from __future__ import annotations

from ottla.configs.value import Password
from tests.support.nodes.one_node import OneNode
from tests.support.security.acls import secured


def secure(node: OneNode, **values: bool | int | str | Password | None) -> None:
    """Gives both the broker and the controller of a node a secured config."""
    config = secured(node.broker.cluster.config, **values)
    node.broker.cluster.config = config
    node.controller._node = config
