"""The topics of the measurements: three replicas of each partition, alike on both sides."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

from benchmarks.cluster.clusters import NODES, Cluster
from benchmarks.cluster.view import wait_partitions
from benchmarks.versus.wire_client import create_topics, delete_topic
from ottla.wire.messages.metadata import MetadataResponsePartition

_numbers = itertools.count()


@contextlib.contextmanager
def replicated_topic(cluster: Cluster, *, partitions: int) -> Iterator[str]:
    """A topic that every node knows to be led and in step; deleted in the end."""
    name = f"load-{next(_numbers)}"
    address = cluster.nodes[0].address
    create_topics(address, [name], partitions=partitions, replication_factor=NODES)
    wait_in_step(cluster, name, partitions=partitions)
    yield name
    delete_topic(address, name)


def wait_in_step(cluster: Cluster, name: str, *, partitions: int) -> None:
    wait_partitions(
        cluster.addresses, [name], is_in_step, count=partitions, what=f"all in step in {name}"
    )


def is_led(partition: MetadataResponsePartition) -> bool:
    return partition.leader_id >= 0


def is_in_step(partition: MetadataResponsePartition) -> bool:
    return is_led(partition) and len(partition.isr_nodes) == NODES
