"""The limit on the bytes that a tenant retains: of the partitions that a node leads.

A topic of a tenant beyond its limit takes no records (POLICY_VIOLATION) until retention or its
owner deletes some. The bytes are added up once a second at most.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.control.tenancy import Tenancy
from ottla.broker.network.handling import RequestContext
from ottla.broker.producing.unauthorized_produce import name_of, refused_topic
from ottla.model import ErrorCode
from ottla.replication.partitions import Partitions
from ottla.tenancy.tenant import SEPARATOR, tenant_name_of
from ottla.wire.messages.produce import ProduceRequest, TopicProduceResponse


def take_beyond_limit(
    cluster: ClusterView,
    tenancy: Tenancy,
    partitions: Partitions,
    context: RequestContext,
    request: ProduceRequest,
    now: float,
) -> list[TopicProduceResponse]:
    """Removes the topics of tenants that retain too much from the request and returns their
    errors."""
    if not tenancy.limits_retained_bytes:
        return []
    accepted, refused = [], []
    for topic in request.topic_data:
        name = name_of(cluster, context.api_version, topic)
        if name is not None and _is_beyond_limit(tenancy, partitions, name, now):
            refused.append(refused_topic(topic, ErrorCode.POLICY_VIOLATION))
        else:
            accepted.append(topic)
    request.topic_data = accepted
    return refused


def _is_beyond_limit(tenancy: Tenancy, partitions: Partitions, topic: str, now: float) -> bool:
    tenant = tenant_name_of(topic)
    limit = None if tenant is None else tenancy.limits_of(tenant).retained_bytes
    if tenant is None or limit is None:
        return False

    def measure() -> int:
        prefix = tenant + SEPARATOR
        return sum(
            partition.log.segments.size
            for partition in partitions
            if partition.log is not None
            and partition.is_leader
            and partition.name.topic.startswith(prefix)
        )

    return tenancy.retained_bytes(tenant, measure, now) >= limit
