"""Limits on topics and partitions: of a tenant, whose topics have its prefix, also those that its
operator creates; and of a user, whose topics are those that it created. Beyond a limit:
POLICY_VIOLATION."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ottla.metadata import MetadataImage, TopicImage
from ottla.model import ErrorCode, KafkaError
from ottla.quotas.entities import LimitKey
from ottla.quotas.user_limits import UserLimits
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.tenancy.tenant import Tenant, tenant_name_of, tenants_of


@dataclass(slots=True)
class _Owned:
    """What a tenant or a user has, with what the request adds."""

    owner: str
    topics_max: int | None
    partitions_max: int | None
    topics: int = 0
    partitions: int = 0

    def check(self, *, topics: int, partitions: int) -> None:
        self._check("topics", self.topics + topics, self.topics_max)
        self._check("partitions", self.partitions + partitions, self.partitions_max)

    def _check(self, what: str, count: int, limit: int | None) -> None:
        if limit is not None and count > limit:
            allowed = f"1 {what.removesuffix('s')}" if limit == 1 else f"{limit} {what}"
            raise KafkaError(
                ErrorCode.POLICY_VIOLATION,
                f"{self.owner} may have {allowed}, and this request would make it {count} {what}: "
                "delete some, or ask the operator of the cluster for more.",
            )


class OwnedTopics:
    """What tenants and users have, with what one request adds."""

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        self._tenants = tenants_of(image.cluster_configs)
        self._users = UserLimits(image.client_quotas)
        self._known: dict[tuple[str, str], _Owned | None] = {}

    def add(self, topic: str, owner: str, *, topics: int, partitions: int) -> None:
        """Counts a new topic, or new partitions. Raises KafkaError if they are too many."""
        found = list(self._owned(topic, owner))
        for each in found:
            each.check(topics=topics, partitions=partitions)
        for each in found:
            each.topics += topics
            each.partitions += partitions

    def _owned(self, topic: str, owner: str) -> Iterator[_Owned]:
        """Those with limits that count this topic."""
        tenant = self._tenants.get(tenant_name_of(topic) or "")
        if tenant is not None:
            if ("tenant", tenant.name) not in self._known:
                self._known["tenant", tenant.name] = self._of_tenant(tenant)
            of_tenant = self._known["tenant", tenant.name]
            if of_tenant is not None:
                yield of_tenant
        if owner:
            if ("user", owner) not in self._known:
                self._known["user", owner] = self._of_user(owner)
            of_user = self._known["user", owner]
            if of_user is not None:
                yield of_user

    def _of_tenant(self, tenant: Tenant) -> _Owned | None:
        limits = tenant.limits
        return self._counted(
            _Owned(tenant.name, limits.topics, limits.partitions),
            lambda topic: topic.name.startswith(tenant.prefix),
        )

    def _of_user(self, user: str) -> _Owned | None:
        find = self._users.find
        limits = find(LimitKey.TOPICS, user), find(LimitKey.PARTITIONS, user)
        return self._counted(_Owned(f"user {user}", *limits), lambda topic: topic.owner == user)

    def _counted(self, owned: _Owned, has: Callable[[TopicImage], bool]) -> _Owned | None:
        if owned.topics_max is None and owned.partitions_max is None:
            return None
        for topic in self._image.topics:
            if has(topic):
                owned.topics += 1
                owned.partitions += len(topic.partitions)
        return owned


def owner_of_new(rights: Rights) -> str:
    """The owner of a topic that is created with these rights: none, if a node creates it."""
    return "" if rights is UNRESTRICTED else rights.principal.name
