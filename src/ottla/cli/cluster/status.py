"""Collects the status of a cluster from its nodes. `status_view.py` prints it."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.channels import ChannelError
from ottla.cli.connection.cluster_admin import ClusterAdmin
from ottla.cli.connection.quorum_description import DescribedQuorum, describe_quorum
from ottla.cli.exit_codes import CommandError
from ottla.runtime.network import Address
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

NO_LEADER: Final = -1
# A node that takes longer to list its offsets is shown without them.
_OFFSETS_TIMEOUT_MS: Final = 2_000
_LATEST: Final = -1
# Kafka's debugging replica id: followers serve its ListOffsets and Fetch requests, too.
_DEBUGGING_REPLICA: Final = -2


class PartitionPlace(NamedTuple):
    topic: str
    partition: int
    leader: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]

    @property
    def is_under_replicated(self) -> bool:
        return len(self.in_sync) < len(self.replicas)


class BrokerView(NamedTuple):
    """`lag` is how many records its replicas are behind their leaders; None if it is unknown."""

    id: int
    address: Address
    rack: str | None
    is_fenced: bool
    leads: int
    replicas: int
    in_sync: int
    lag: int | None


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    cluster_id: str
    brokers: tuple[BrokerView, ...]
    # None while there is no active controller.
    quorum: DescribedQuorum | None
    partitions: tuple[PartitionPlace, ...]

    @property
    def under_replicated(self) -> list[PartitionPlace]:
        return [partition for partition in self.partitions if partition.is_under_replicated]

    @property
    def without_leader(self) -> list[PartitionPlace]:
        return [partition for partition in self.partitions if partition.leader == NO_LEADER]

    @property
    def is_well(self) -> bool:
        return not (
            self.under_replicated
            or self.without_leader
            or any(broker.is_fenced for broker in self.brokers)
            or self.quorum is None
        )


async def fetch_status(admin: ClusterAdmin) -> ClusterStatus:
    metadata = await admin.metadata()
    cluster = await admin.send_request(DescribeClusterRequest(include_fenced_brokers=True))
    partitions = tuple(
        PartitionPlace(
            topic.name or "",
            partition.partition_index,
            partition.leader_id,
            tuple(partition.replica_nodes),
            tuple(partition.isr_nodes),
        )
        for topic in sorted(metadata.topics, key=lambda topic: topic.name or "")
        for partition in sorted(topic.partitions, key=lambda each: each.partition_index)
    )
    addresses = {
        broker.broker_id: Address(broker.host, broker.port)
        for broker in cluster.brokers
        if not broker.is_fenced
    }
    lags = await _lags(admin, addresses, partitions)
    try:
        quorum = await describe_quorum(admin)
    except CommandError:
        quorum = None
    led = Counter(partition.leader for partition in partitions)
    held = Counter(replica for partition in partitions for replica in partition.replicas)
    in_sync = Counter(replica for partition in partitions for replica in partition.in_sync)
    brokers = tuple(
        BrokerView(
            broker.broker_id,
            Address(broker.host, broker.port),
            broker.rack,
            broker.is_fenced,
            leads=led[broker.broker_id],
            replicas=held[broker.broker_id],
            in_sync=in_sync[broker.broker_id],
            lag=lags.get(broker.broker_id),
        )
        for broker in sorted(cluster.brokers, key=lambda each: each.broker_id)
    )
    return ClusterStatus(cluster.cluster_id, brokers, quorum, partitions)


async def _lags(
    admin: ClusterAdmin, addresses: Mapping[int, Address], partitions: Iterable[PartitionPlace]
) -> dict[int, int]:
    """By broker, how many records its replicas are behind their leaders."""
    held: dict[int, list[PartitionPlace]] = defaultdict(list)
    for partition in partitions:
        for replica in partition.replicas:
            held[replica].append(partition)
    answers = await asyncio.gather(
        *(_log_ends(admin, address, held[broker]) for broker, address in addresses.items())
    )
    ends = dict(zip(addresses, answers, strict=True))
    lags = {}
    for broker, found in ends.items():
        if found is None:
            continue
        lags[broker] = sum(
            max(leaders[name] - end, 0)
            for partition in held[broker]
            if (name := (partition.topic, partition.partition))
            and (leaders := ends.get(partition.leader) or {}).get(name) is not None
            and (end := found.get(name)) is not None
        )
    return lags


async def _log_ends(
    admin: ClusterAdmin, address: Address, partitions: Iterable[PartitionPlace]
) -> dict[tuple[str, int], int] | None:
    """The log end offsets of a broker's replicas. None if it does not respond in time."""
    topics: dict[str, ListOffsetsTopic] = {}
    for partition in partitions:
        topic = topics.setdefault(partition.topic, ListOffsetsTopic(name=partition.topic))
        requested = ListOffsetsPartition(partition_index=partition.partition, timestamp=_LATEST)
        topic.partitions.append(requested)
    request = ListOffsetsRequest(
        replica_id=_DEBUGGING_REPLICA,
        topics=list(topics.values()),
        timeout_ms=_OFFSETS_TIMEOUT_MS,
    )
    try:
        response = await admin.send_to_node(address, request, timeout_ms=_OFFSETS_TIMEOUT_MS)
    except (ChannelError, CommandError):
        return None
    return {
        (topic.name, partition.partition_index): partition.offset
        for topic in response.topics
        for partition in topic.partitions
        if not partition.error_code
    }
