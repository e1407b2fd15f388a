"""The limits of tenants and users that this node enforces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.tenancy import Tenancy
from ottla.broker.control.user_limits import LimitedUsers
from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.group_limits import GroupLimits
from ottla.broker.producing.retained_bytes import RetainedBytes
from ottla.quotas.entities import LimitKey
from ottla.quotas.usage import QuotaUsage
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


class OwnerLimits:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        tenancy: Tenancy,
        groups: CoordinatorShards[GroupCoordinator],
        partitions: Partitions,
        clock: Clock,
    ) -> None:
        self._cluster = cluster
        self.users = LimitedUsers(cluster)
        self.groups = GroupLimits(tenancy, self.users, groups)
        self.retained_bytes = RetainedBytes(cluster, tenancy, self.users, partitions, clock)

    def usage(self) -> Iterator[QuotaUsage]:
        """What users with limits have: topics and partitions in the cluster, the rest here."""
        limits = self.users.limits
        for key in filter(limits.has, LimitKey):
            used = self._used(key)
            for user in sorted({*used, *limits.users(key)} - {""}):
                limit = limits.find(key, user)
                if limit is not None:
                    yield QuotaUsage(key, user, "", used[user], limit, 0)

    def _used(self, key: LimitKey) -> Counter[str]:
        """By user."""
        if key is LimitKey.CONNECTIONS:
            return self.users.connections
        if key is LimitKey.GROUPS:
            return self.groups.of_users()
        if key is LimitKey.RETAINED_BYTES:
            return self.retained_bytes.of_users()
        used: Counter[str] = Counter()
        for topic in self._cluster.image.topics:
            used[topic.owner] += 1 if key is LimitKey.TOPICS else len(topic.partitions)
        return used
