"""Replication defaults by cluster size, for clusters whose nodes are all created at once."""

from __future__ import annotations


def replication_defaults(nodes: int) -> dict[str, str]:
    """Up to three replicas. With three, acknowledged writes survive the loss of one node."""
    factor = min(nodes, 3)
    minimum = 2 if factor == 3 else 1
    return {
        "default.replication.factor": str(factor),
        "min.insync.replicas": str(minimum),
        "offsets.topic.replication.factor": str(factor),
        "transaction.state.log.replication.factor": str(factor),
        "transaction.state.log.min.isr": str(minimum),
        "share.coordinator.state.topic.replication.factor": str(factor),
        "share.coordinator.state.topic.min.isr": str(minimum),
    }
