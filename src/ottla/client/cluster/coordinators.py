"""The coordinators of groups and transactional ids, as far as they are known."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from ottla.client.cluster.metadata import ClusterNode
from ottla.client.errors import require
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse


class CoordinatorKind(IntEnum):
    """Kafka's key types."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class CoordinatorCache:
    """Node ids by kind and key; forgotten when a node says that it is not the coordinator, or
    cannot be reached."""

    def __init__(self) -> None:
        self._nodes: dict[tuple[CoordinatorKind, str], int] = {}

    def get(self, kind: CoordinatorKind, key: str) -> int | None:
        return self._nodes.get((kind, key))

    def put(self, kind: CoordinatorKind, key: str, node_id: int) -> None:
        self._nodes[kind, key] = node_id

    def forget(self, kind: CoordinatorKind, key: str, node_id: int | None) -> None:
        """Keeps another node that was found meanwhile."""
        if node_id is None or self._nodes.get((kind, key)) == node_id:
            self._nodes.pop((kind, key), None)

    def forget_node(self, node_id: int) -> None:
        self._nodes = {key: found for key, found in self._nodes.items() if found != node_id}


def find_request(kind: CoordinatorKind, key: str) -> FindCoordinatorRequest:
    # Up to version 3 there is one key, from 4 on a list.
    return FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key])


def found_node(response: FindCoordinatorResponse, key: str) -> ClusterNode:
    """Raises ApiError."""
    found: Any = response.coordinators[0] if response.coordinators else response
    require(found.error_code, f"looking for the coordinator of {key}", found.error_message)
    return ClusterNode(found.node_id, found.host, found.port)
