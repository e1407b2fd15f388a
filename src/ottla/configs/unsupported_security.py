"""Refuses to start a node with configs whose security the node does not enforce yet.

If the node ignored them, it would serve every client in plaintext while its operator believes that
it is secured.
"""

from __future__ import annotations

from typing import Final

from ottla.configs.errors import InvalidConfigError
from ottla.configs.node_config import NodeConfig

_INSTEAD: Final = "let only trusted hosts reach the node, for example with a firewall"


def refuse_unsupported_security(node: NodeConfig) -> None:
    """Raises InvalidConfigError for the first config that the node would not enforce."""
    _refuse_authorizer(node)


def _refuse_authorizer(node: NodeConfig) -> None:
    if node.authorizer_class_name:
        raise InvalidConfigError(
            "authorizer.class.name: a node does not check what clients may do yet; remove it, and "
            f"{_INSTEAD}"
        )
