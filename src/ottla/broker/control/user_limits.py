"""The limits of users (`connections_max` and others), and the connections that they have.

The limits on topics and partitions are the controller's (controller/operations/owner_limits.py).
"""

from __future__ import annotations

from collections import Counter

from ottla.broker.control.cluster_view import ClusterView
from ottla.metadata import MetadataDelta
from ottla.quotas.entities import LimitKey
from ottla.quotas.user_limits import UserLimits
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Rights


class LimitedUsers:
    """Follows the metadata. Owned by the node's loop."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self.connections: Counter[str] = Counter()
        self.limits = UserLimits(cluster.image.client_quotas)
        cluster.metadata.listen(self._metadata_changed)

    def open(self, listener: str, rights: Rights) -> str:
        """Counts a connection of an identified user, and returns the user. Raises
        ConnectionAbortedError if it has too many.

        Never on a listener of nodes for a client that may act as one: nodes must not lock each
        other out."""
        user = rights.principal.name
        limit = self.limits.find(LimitKey.CONNECTIONS, user)
        if (
            limit is not None
            and self.connections[user] >= limit
            and not self._is_node(listener, rights)
        ):
            raise ConnectionAbortedError(
                f"user {user} has {limit} connections to this node, which is its limit"
            )
        self.connections[user] += 1
        return user

    def close(self, user: str) -> None:
        self.connections[user] -= 1
        if not self.connections[user]:
            del self.connections[user]

    def _is_node(self, listener: str, rights: Rights) -> bool:
        listeners = self._cluster.config.listeners
        if listener not in (listeners.inter_broker_listener_name, *listeners.controller_names):
            return False
        return rights.allows_quietly(
            AclOperation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
        )

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        if delta.client_quotas_changed:
            self.limits = UserLimits(self._cluster.image.client_quotas)
