"""Chooses the replica from which a consumer reads: one in its rack (KIP-392).

Of the Java classes for `replica.selector.class`, only Kafka's `RackAwareReplicaSelector` is
supported.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.replication.partition import Partition

_BY_RACK: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def preferred_read_replica(
    cluster: ClusterView, partition: Partition, offset: int, *, rack: str, now_ms: int
) -> int | None:
    """The follower in the consumer's rack that has the offset and is most caught up. None if the
    consumer should read from the leader."""
    if cluster.config.replica_selector_class != _BY_RACK or rack == cluster.config.broker_rack:
        return None
    brokers = cluster.image.brokers
    near = [
        (replica.log_end_offset, -replica.node_id)
        for replica in partition.read_replicas(offset, now_ms=now_ms)
        if (found := brokers.get(replica.node_id)) is not None
        and found.rack == rack
        and not found.fenced
    ]
    return -max(near)[1] if near else None
