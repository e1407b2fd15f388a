"""The topics of schemas that a node reads: one for the cluster, and one for each tenant.

A tenant's registry writes the tenant's own topic, and its schemas have the names that the tenant
knows.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

from ottla.broker.control.broker_peers import BrokerPeers
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.broker.validation.schema_log import SchemaLog
from ottla.replication.partitions import Partitions
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.tenancy.tenant import tenant_prefix

# Texts of schemas that are kept in memory, of the cluster and of each tenant.
_BYTES_MAX: Final = 64 << 20
_TENANT_BYTES_MAX: Final = 8 << 20
_LOGS_MAX: Final = 50
_IDLE_SECONDS: Final = 600.0


class TopicOfRecords(NamedTuple):
    """A topic whose records are checked: its name without the tenant's prefix, and the prefix."""

    name: str
    prefix: str


class SchemaLogs:
    """Owned by the node's loop. What is no longer used is dropped."""

    def __init__(
        self,
        cluster: ClusterView,
        partitions: Partitions,
        peers: BrokerPeers,
        failures: StorageFailures,
        background: Background,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._cluster = cluster
        self._parts = (cluster, partitions, peers, failures, background, clock, tasks)
        self._clock = clock
        # By the prefix of the tenant, with the time of the last use.
        self._logs: OrderedDict[str, tuple[SchemaLog, float]] = OrderedDict()

    def split(self, topic: str) -> TopicOfRecords:
        prefix = tenant_prefix(self._cluster.image.cluster_configs, topic)
        return TopicOfRecords(topic[len(prefix) :], prefix)

    def of(self, prefix: str) -> SchemaLog:
        now = self._clock.monotonic()
        known = self._logs.pop(prefix, None)
        log = self._new(prefix) if known is None else known[0]
        self._logs[prefix] = log, now
        oldest, (_, used_at) = next(iter(self._logs.items()))
        if len(self._logs) > _LOGS_MAX or now - used_at > _IDLE_SECONDS:
            del self._logs[oldest]
        return log

    def _new(self, prefix: str) -> SchemaLog:
        bytes_max = _TENANT_BYTES_MAX if prefix else _BYTES_MAX
        name = prefix + self._cluster.config.schema_topic
        return SchemaLog(name, *self._parts, bytes_max=bytes_max)
