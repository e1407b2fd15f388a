"""The limits on the bytes that a tenant or a user retains: of the partitions that a node leads.

The topics of a user are those that it created. A topic of an owner beyond its limit takes no
records (POLICY_VIOLATION) until retention or its owner deletes some. The bytes of all owners are
added up once a second at most, in steps: with each Produce request those of some partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from math import inf
from typing import Final, NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.tenancy import Tenancy
from ottla.broker.control.user_limits import LimitedUsers
from ottla.broker.network.handling import RequestContext
from ottla.broker.producing.unauthorized_produce import name_of, refused_topic
from ottla.model import ErrorCode
from ottla.quotas.entities import LimitKey
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.tenancy.tenant import tenant_name_of
from ottla.wire.messages.produce import ProduceRequest, TopicProduceResponse

_MEASURED_SECONDS: Final = 1.0
_TENANT: Final = "tenant"
_USER: Final = "user"
# Half a millisecond.
_PARTITIONS_PER_STEP: Final = 500


class _Owner(NamedTuple):
    kind: str
    name: str


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
        # By owner, as last added up, and when.
        self._sizes: Counter[_Owner] = Counter()
        self._measured_at = -inf
        # The sums that are under way, and the partitions that they lack.
        self._sums: Counter[_Owner] = Counter()
        self._rest: Iterator[Partition] | None = None

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
        self._measure()
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
        sizes: Counter[str] = Counter()
        for partition in self._partitions:
            sizes[self._owner_of(partition.name.topic)] += _led_bytes(partition)
        return sizes

    def _is_beyond(self, topic: str) -> bool:
        tenant = tenant_name_of(topic)
        if tenant is not None:
            limit = self._tenancy.limits_of(tenant).retained_bytes
            if limit is not None and limit <= self._sizes[_Owner(_TENANT, tenant)]:
                return True
        user = self._owner_of(topic)
        limit = self._users.limits.find(LimitKey.RETAINED_BYTES, user) if user else None
        return limit is not None and limit <= self._sizes[_Owner(_USER, user)]

    def _owner_of(self, topic: str) -> str:
        """The user that created a topic; empty if there is none."""
        found = self._cluster.image.topics.by_name.get(topic)
        return "" if found is None else found.owner

    def _measure(self) -> None:
        """Adds up some more partitions, if the sums are old."""
        if self._rest is None:
            if self._clock.monotonic() - self._measured_at < _MEASURED_SECONDS:
                return
            self._rest = iter(list(self._partitions))
            self._sums = Counter()
        step = list(islice(self._rest, _PARTITIONS_PER_STEP))
        for partition in step:
            topic, size = partition.name.topic, _led_bytes(partition)
            self._sums[_Owner(_TENANT, tenant_name_of(topic) or "")] += size
            self._sums[_Owner(_USER, self._owner_of(topic))] += size
        if len(step) < _PARTITIONS_PER_STEP:
            self._sizes, self._rest = self._sums, None
            self._measured_at = self._clock.monotonic()


def _led_bytes(partition: Partition) -> int:
    """0 on a follower."""
    if partition.log is None or not partition.is_leader:
        return 0
    return partition.log.segments.size
