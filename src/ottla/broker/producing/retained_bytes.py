"""The limits on the bytes that a tenant or a user retains: of the partitions that a node leads.

The topics of a user are those that it created. A topic of an owner beyond its limit takes no
records (POLICY_VIOLATION) until retention or its owner deletes some. The bytes are added up once a
second at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.tenancy import Tenancy
from ottla.broker.control.user_limits import LimitedUsers
from ottla.broker.network.handling import RequestContext
from ottla.broker.producing.unauthorized_produce import name_of, refused_topic
from ottla.model import ErrorCode
from ottla.quotas.entities import LimitKey
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.tenancy.tenant import SEPARATOR, tenant_name_of
from ottla.wire.messages.produce import ProduceRequest, TopicProduceResponse

_MEASURED_SECONDS: Final = 1.0
_REMEMBERED_MAX: Final = 10_000


class RetainedBytes:
    """Owned by the node's loop."""

    def __init__(
        self,
        cluster: ClusterView,
        tenancy: Tenancy,
        users: LimitedUsers,
        partitions: Partitions,
        clock: Clock,
    ) -> None:
        self._cluster = cluster
        self._tenancy = tenancy
        self._users = users
        self._partitions = partitions
        self._clock = clock
        # When they were measured, and how many, by owner.
        self._measured: dict[Hashable, tuple[float, int]] = {}

    @property
    def are_limited(self) -> bool:
        """Whether anything is limited. Otherwise a request costs nothing more."""
        limits = self._users.limits
        return self._tenancy.limits_retained_bytes or limits.has(LimitKey.RETAINED_BYTES)

    def take_beyond(
        self, context: RequestContext, request: ProduceRequest
    ) -> list[TopicProduceResponse]:
        """Removes the topics of owners that retain too much from the request and returns their
        errors."""
        accepted, refused = [], []
        for topic in request.topic_data:
            name = name_of(self._cluster, context.api_version, topic)
            if name is not None and self._is_beyond(name):
                refused.append(refused_topic(topic, ErrorCode.POLICY_VIOLATION))
            else:
                accepted.append(topic)
        request.topic_data = accepted
        return refused

    def of_users(self) -> Counter[str]:
        """The bytes of each user's topics, as far as this node leads them."""
        topics = self._cluster.image.topics.by_name
        used: Counter[str] = Counter()
        for partition in self._partitions:
            topic = topics.get(partition.name.topic)
            if topic is not None and partition.log is not None and partition.is_leader:
                used[topic.owner] += partition.log.segments.size
        return used

    def _is_beyond(self, topic: str) -> bool:
        tenant = tenant_name_of(topic)
        if tenant is not None:
            limit = self._tenancy.limits_of(tenant).retained_bytes
            prefix = tenant + SEPARATOR
            if limit is not None and limit <= self._size(
                ("tenant", tenant), lambda name: name.startswith(prefix)
            ):
                return True
        topics = self._cluster.image.topics.by_name
        found = topics.get(topic)
        owner = "" if found is None else found.owner
        limit = self._users.limits.find(LimitKey.RETAINED_BYTES, owner) if owner else None

        def is_owned(name: str) -> bool:
            each = topics.get(name)
            return each is not None and each.owner == owner

        return limit is not None and limit <= self._size(("user", owner), is_owned)

    def _size(self, owner: Hashable, has: Callable[[str], bool]) -> int:
        now = self._clock.monotonic()
        known = self._measured.get(owner)
        if known is not None and now - known[0] < _MEASURED_SECONDS:
            return known[1]
        size = sum(
            partition.log.segments.size
            for partition in self._partitions
            if partition.log is not None and partition.is_leader and has(partition.name.topic)
        )
        if len(self._measured) >= _REMEMBERED_MAX:
            self._measured.clear()
        self._measured[owner] = now, size
        return size
