"""Replication throttling: limits how fast lagging replicas catch up (KIP-73).

A topic lists the replicas that are throttled on the leader and those throttled on the follower
(`leader.replication.throttled.replicas`, `follower.replication.throttled.replicas`: a list of
partition:broker, or `*`). A broker has one rate for all partitions it leads and one for all it
follows. In-sync replicas are never throttled, because producers wait for them, but their bytes
count.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from ottla.broker.control.cluster_view import ClusterView
from ottla.configs.definition import LONG_MAX
from ottla.model import TopicPartition
from ottla.replication.byte_rate import ByteRate
from ottla.replication.partition import Partition
from ottla.runtime.clock import Clock

_ALL_REPLICAS: Final = "*"
_REMEMBERED_MAX: Final = 1_000


class ReplicaThrottle:
    """A `ReplicationThrottle` for one side of a broker's replication. Created with the broker.

    Reads the configs at each call, so a change takes effect at once.
    """

    def __init__(
        self, cluster: ClusterView, clock: Clock, side: Literal["leader", "follower"]
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        # Of all partitions, throttled or not.
        self.total_bytes = 0
        self._rate_name = f"{side}.replication.throttled.rate"
        self._replicas_name = f"{side}.replication.throttled.replicas"
        self._bytes = ByteRate(
            windows_max=cluster.config.replication_quota_window_num,
            window_seconds=cluster.config.replication_quota_window_size_seconds,
        )

    def is_exceeded(self, partition: Partition) -> bool:
        return (
            self._rate_max < LONG_MAX
            and self._is_throttled(partition.name)
            and self._bytes.per_second(now=self._clock.monotonic()) > self._rate_max
        )

    def record(self, partition: Partition, size: int) -> None:
        self.total_bytes += size
        if self._rate_max < LONG_MAX and self._is_throttled(partition.name):
            self._bytes.record(size, now=self._clock.monotonic())

    @property
    def _rate_max(self) -> int:
        rate = self._cluster.config[self._rate_name]
        assert isinstance(rate, int)
        return rate

    def _is_throttled(self, name: TopicPartition) -> bool:
        replicas = self._cluster.image.topic_configs(name.topic).get(self._replicas_name, "")
        partitions = _throttled_partitions(replicas, self._cluster.node_id)
        return partitions is None or name.partition in partitions


@lru_cache(_REMEMBERED_MAX)
def _throttled_partitions(replicas: str, node_id: int) -> frozenset[int] | None:
    """A topic's partitions that are throttled on this node; None means all of them."""
    names = [name.strip() for name in replicas.split(",") if name.strip()]
    if names == [_ALL_REPLICAS]:
        return None
    pairs = (name.split(":") for name in names)
    return frozenset(int(partition) for partition, broker in pairs if int(broker) == node_id)
