"""The tenants of the cluster, and which of a node's listeners are theirs.

`ottla.tenant.listeners` names the listeners: `ACME:acme` is for one tenant and any client;
`SHARED:*` is for all, and the client's user decides: `acme.alice` is a user of the tenant acme.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.metadata import MetadataDelta
from ottla.model import Uuid
from ottla.runtime.dice import Dice
from ottla.security.principal import Principal
from ottla.tenancy.tenant import Tenant, TenantLimits, tenant_name_of, tenants_of
from ottla.tenancy.translation import InwardNames, OutwardNames, TopicIds

_BY_USER: Final = "*"


class TenantNames:
    """The names of one tenant in both directions."""

    def __init__(self, tenant: Tenant, name_of: Callable[[Uuid], str | None], mask: bytes) -> None:
        topic_ids = TopicIds(name_of, tenant.prefix, mask)
        self.name = tenant.name
        self.prefix = tenant.prefix
        self.inward = InwardNames(tenant.prefix, topic_ids)
        self.outward = OutwardNames(tenant.prefix, topic_ids)


class Tenancy:
    """Follows the metadata. Owned by the node's loop."""

    def __init__(self, cluster: ClusterView, dice: Dice) -> None:
        self._cluster = cluster
        self._listeners = cluster.config.tenant_listeners
        # Turns the topic ids of other tenants into ids that no topic has.
        self._mask = bytes(dice.uuid())
        self._tenants: dict[str, Tenant] = {}
        # How to close each connection, by tenant and by what stands for the connection.
        self._connections: dict[str, dict[object, Callable[[], None]]] = {}
        self.limits_retained_bytes = False
        self._follow()
        cluster.metadata.listen(self._metadata_changed)

    @property
    def tenants(self) -> Mapping[str, Tenant]:
        return self._tenants

    def has(self, listener: str) -> bool:
        """Whether a listener is for tenants."""
        return listener in self._listeners

    def names_for(self, listener: str, principal: Principal) -> TenantNames:
        """The names of the tenant of a client. Raises ConnectionAbortedError if it has none."""
        name = self._listeners[listener]
        if name == _BY_USER:
            name = tenant_name_of(principal.name) or ""
        tenant = self._tenants.get(name)
        if tenant is None:
            raise ConnectionAbortedError(
                f"{principal} belongs to no tenant: listener {listener} is for tenants only; "
                "`ottla tenants list` shows them"
            )
        return TenantNames(tenant, self._topic_name, self._mask)

    def limits_of(self, name: str) -> TenantLimits:
        """The limits of a tenant; none for one that was deleted."""
        tenant = self._tenants.get(name)
        return TenantLimits() if tenant is None else tenant.limits

    def open(self, name: str, connection: object, close: Callable[[], None]) -> None:
        """Counts a connection, which is closed when the tenant is deleted. Raises
        ConnectionAbortedError if the tenant has too many."""
        limit = self.limits_of(name).connections
        known = self._connections.setdefault(name, {})
        if limit is not None and len(known) >= limit:
            raise ConnectionAbortedError(
                f"tenant {name} has {limit} connections to this node, which is its limit"
            )
        known[connection] = close

    def close(self, name: str, connection: object) -> None:
        known = self._connections.get(name, {})
        known.pop(connection, None)
        if not known:
            self._connections.pop(name, None)

    def _topic_name(self, topic_id: Uuid) -> str | None:
        topic = self._cluster.image.topics.by_id.get(topic_id)
        if topic is not None:
            return topic.name
        deleted = self._cluster.image.deleted_topics.by_id.get(topic_id)
        return None if deleted is None else deleted.name

    def _metadata_changed(self, delta: MetadataDelta) -> None:
        if delta.configs_changed:
            self._follow()

    def _follow(self) -> None:
        self._tenants = tenants_of(self._cluster.image.cluster_configs)
        self.limits_retained_bytes = any(
            tenant.limits.retained_bytes is not None for tenant in self._tenants.values()
        )
        for name in sorted(self._connections.keys() - self._tenants.keys()):
            for close in list(self._connections[name].values()):
                close()
