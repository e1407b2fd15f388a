"""What every client knows of its cluster: nodes, metadata, coordinators, and when to try again."""

from ottla.client.cluster.client_cluster import ClientCluster
from ottla.client.cluster.coordinators import CoordinatorKind
from ottla.client.cluster.deadlines import within
from ottla.client.cluster.metadata import (
    ClusterMetadata,
    ClusterNode,
    KnownPartition,
    KnownTopic,
    PartitionLeader,
)
from ottla.client.cluster.node import Lane
from ottla.client.cluster.seams import ClientSeams

__all__ = [
    "ClientCluster",
    "ClientSeams",
    "ClusterMetadata",
    "ClusterNode",
    "CoordinatorKind",
    "KnownPartition",
    "KnownTopic",
    "Lane",
    "PartitionLeader",
    "within",
]
