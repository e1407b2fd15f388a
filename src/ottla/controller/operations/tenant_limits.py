"""Limits of tenants on topics and partitions: of all topics with a tenant's prefix, also those
that its operator creates. Beyond a limit: POLICY_VIOLATION."""

from __future__ import annotations

from collections import Counter

from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.tenancy.tenant import Tenant, tenant_name_of, tenants_of


class TenantTopics:
    """What tenants have, with what one request adds."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._tenants = tenants_of(image.cluster_configs)
        self._topics: Counter[str] = Counter()
        self._partitions: Counter[str] = Counter()
        self._counted: set[str] = set()

    def add(self, topic: str, *, topics: int, partitions: int) -> None:
        """Counts a new topic, or new partitions. Raises KafkaError if they are too many."""
        tenant = self._tenants.get(tenant_name_of(topic) or "")
        if tenant is None:
            return
        name, limits = tenant.name, tenant.limits
        if limits.topics is None and limits.partitions is None:
            return
        self._count(tenant)
        self._check(name, "topics", self._topics[name] + topics, limits.topics)
        self._check(name, "partitions", self._partitions[name] + partitions, limits.partitions)
        self._topics[name] += topics
        self._partitions[name] += partitions

    def _count(self, tenant: Tenant) -> None:
        if tenant.name in self._counted:
            return
        self._counted.add(tenant.name)
        for name, topic in self._image.topics.by_name.items():
            if name.startswith(tenant.prefix):
                self._topics[tenant.name] += 1
                self._partitions[tenant.name] += len(topic.partitions)

    @staticmethod
    def _check(tenant: str, what: str, count: int, limit: int | None) -> None:
        if limit is not None and count > limit:
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"This would be {count} {what}, and {tenant} may have {limit}: delete some, or ask "
                "the operator of the cluster for more.",
            )
