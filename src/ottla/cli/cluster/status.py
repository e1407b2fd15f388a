"""Collects the status of a cluster from its nodes. `status_view.py` prints it."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.cli.connection.admin_connection import doing
from ottla.client.administration.admin import Admin
from ottla.client.administration.offsets import OffsetSpec
from ottla.client.administration.quorum import DescribedQuorum
from ottla.client.errors import ClientError
from ottla.model import TopicPartition
from ottla.runtime.network import Address

NO_LEADER: Final = -1
# A node that takes longer to list its offsets is shown without them.
_OFFSETS_TIMEOUT_S: Final = 2.0
# While there is no active controller, the status says so.
_QUORUM_TIMEOUT_S: Final = 2.0


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


async def fetch_status(admin: Admin) -> ClusterStatus:
    """Raises CommandError."""
    with doing("describe the cluster"):
        topics = await admin.list_topics()
        cluster = await admin.describe_cluster(include_fenced_brokers=True)
    partitions = tuple(
        PartitionPlace(
            topic.name,
            each.partition,
            NO_LEADER if each.leader is None else each.leader,
            each.replicas,
            each.in_sync,
        )
        for topic in topics.values()
        for each in topic.partitions
    )
    serving = [broker.id for broker in cluster.brokers if not broker.is_fenced]
    lags = await _lags(admin, serving, partitions)
    try:
        quorum = await admin.describe_quorum(timeout=_QUORUM_TIMEOUT_S)
    except ClientError:
        quorum = None
    led = Counter(partition.leader for partition in partitions)
    held = Counter(replica for partition in partitions for replica in partition.replicas)
    in_sync = Counter(replica for partition in partitions for replica in partition.in_sync)
    brokers = tuple(
        BrokerView(
            broker.id,
            Address(broker.host, broker.port),
            broker.rack,
            broker.is_fenced,
            leads=led[broker.id],
            replicas=held[broker.id],
            in_sync=in_sync[broker.id],
            lag=lags.get(broker.id),
        )
        for broker in cluster.brokers
    )
    return ClusterStatus(cluster.cluster_id, brokers, quorum, partitions)


async def _lags(
    admin: Admin, brokers: Sequence[int], partitions: Iterable[PartitionPlace]
) -> dict[int, int]:
    """By broker, how many records its replicas are behind their leaders."""
    held: dict[int, list[PartitionPlace]] = defaultdict(list)
    for partition in partitions:
        for replica in partition.replicas:
            held[replica].append(partition)
    answers = await asyncio.gather(*(_log_ends(admin, each, held[each]) for each in brokers))
    ends = dict(zip(brokers, answers, strict=True))
    lags = {}
    for broker, found in ends.items():
        if found is None:
            continue
        lags[broker] = sum(
            max(leaders[name] - end, 0)
            for partition in held[broker]
            if (name := TopicPartition(partition.topic, partition.partition))
            and (leaders := ends.get(partition.leader) or {}).get(name) is not None
            and (end := found.get(name)) is not None
        )
    return lags


async def _log_ends(
    admin: Admin, broker: int, partitions: Iterable[PartitionPlace]
) -> dict[TopicPartition, int] | None:
    """The log end offsets of a broker's replicas. None if it does not respond in time."""
    names = [TopicPartition(each.topic, each.partition) for each in partitions]
    places = dict.fromkeys(names, OffsetSpec.LATEST)
    try:
        results = await admin.list_offsets(places, broker=broker, timeout=_OFFSETS_TIMEOUT_S)
    except ClientError:
        return None
    found = results.succeeded
    if names and not found:
        return None
    return {name: each.offset for name, each in found.items() if each is not None}
