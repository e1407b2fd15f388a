"""Refuses to start a node with configs whose security the node does not enforce yet.

If the node ignored them, it would let every client do everything while its operator believes that
it is secured.
"""

from __future__ import annotations

from ottla.configs.errors import InvalidConfigError
from ottla.configs.node_config import NodeConfig


def refuse_unsupported_security(node: NodeConfig) -> None:
    """Raises InvalidConfigError for the first config that the node would not enforce."""
    if node.authorizer_class_name:
        raise InvalidConfigError(
            "authorizer.class.name: a node does not check what clients may do yet; remove it, and "
            "let only trusted hosts reach the node, for example with a firewall"
        )
