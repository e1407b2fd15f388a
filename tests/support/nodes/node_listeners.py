"""The listeners of a cluster's nodes, and how the tests reach them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from ottla.wire.stored.cluster_metadata.security import UserScramCredentialRecord
from tests.support.nodes.wire_connection import WireConnection

HOST = "127.0.0.1"


class NodePorts(Protocol):
    """The ports of a node, each for one listener. The first three have names."""

    id: int
    ports: tuple[int, ...]
    port: int
    controller_port: int
    internal_port: int


class NodeListeners(Protocol):
    """The same kind of listeners on every node of a cluster."""

    # The users that a cluster is formatted with.
    users: Sequence[UserScramCredentialRecord]

    def properties(self, node: NodePorts, roles: Collection[str]) -> dict[str, str]:
        """The configs of a node's listeners."""

    def client_configs(self) -> dict[str, Any]:
        """The configs of librdkafka, without the addresses, for an ordinary client."""

    def admin_configs(self) -> dict[str, Any]:
        """The same for an administrator."""

    def client_port(self, node: NodePorts) -> int:
        """The port that clients connect to."""

    def connect(self, host: str, port: int) -> WireConnection:
        """A connection of an administrator."""


class PlaintextListeners:
    """Everybody is an administrator."""

    users: Sequence[UserScramCredentialRecord] = ()

    def properties(self, node: NodePorts, roles: Collection[str]) -> dict[str, str]:
        listeners = {
            "broker": f"PLAINTEXT://{HOST}:{node.port}",
            "controller": f"CONTROLLER://{HOST}:{node.controller_port}",
        }
        return {"listeners": ",".join(listeners[role] for role in roles)}

    def client_configs(self) -> dict[str, Any]:
        return {}

    def admin_configs(self) -> dict[str, Any]:
        return {}

    def client_port(self, node: NodePorts) -> int:
        return node.port

    def connect(self, host: str, port: int) -> WireConnection:
        return WireConnection((host, port))
