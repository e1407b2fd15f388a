"""Config resources that are named by a broker's id: a broker answers for itself alone."""

from __future__ import annotations

from ottla.model import ErrorCode, KafkaError, NodeId


def check_is_this_node(name: str, node_id: NodeId) -> None:
    """Raises KafkaError (INVALID_REQUEST) for another broker's name, or what is no broker's."""
    if not (name.isascii() and name.isdecimal()):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"Broker id must be an integer, but it is: {name!r}"
        )
    if name != str(node_id):
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"Unexpected broker id, expected {node_id}, but received {name}",
        )
