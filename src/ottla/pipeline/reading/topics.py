"""Requests for partitions and offsets, which plan a read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final

from ottla.model import ErrorCode, TopicPartition
from ottla.pipeline.reading.cluster import SourceCluster, SourceNode, require
from ottla.pipeline.reading.errors import ClusterError, OptionError
from ottla.pipeline.reading.options import SourceOptions, Subscription
from ottla.pipeline.reading.positions import EARLIEST, LATEST, PerPartition, Position
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1
_CONSUMER: Final = -1
_NOT_FOUND: Final = -1


async def find_partitions(
    cluster: SourceCluster, subscription: Subscription
) -> tuple[TopicPartition, ...]:
    """All partitions to read, sorted. Raises ClusterError for a topic that does not exist."""
    names = subscription.topics or tuple({each.topic for each in subscription.assigned})
    has_pattern = subscription.pattern is not None
    metadata = await cluster.metadata(None if has_pattern else sorted(names))
    for name in () if has_pattern else sorted(names):
        code = metadata.errors.get(name)
        if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise ClusterError(f"there is no topic {name}; create it first, or look for a typo")
        if code is not None:
            raise ClusterError(f"topic {name}: {code.name}")
    found = [
        TopicPartition(name, each.partition)
        for name, topic in metadata.topics.items()
        if name in names or (has_pattern and not topic.is_internal and subscription.wants(name))
        for each in topic.partitions
    ]
    if subscription.assigned:
        missing = sorted(set(subscription.assigned).difference(found))
        if missing:
            raise ClusterError(
                "assign names partitions that do not exist: "
                + ", ".join(f"{each.topic}-{each.partition}" for each in missing)
            )
        return tuple(sorted(subscription.assigned))
    return tuple(sorted(found))


async def list_offsets(
    cluster: SourceCluster, requested: Mapping[TopicPartition, int], *, isolation: int
) -> PerPartition:
    """For each partition the offset at EARLIEST, LATEST or a timestamp; -1 if no record has that
    timestamp or a later one."""

    async def attempt() -> PerPartition:
        by_leader: dict[SourceNode, list[TopicPartition]] = defaultdict(list)
        for partition in requested:
            by_leader[await cluster.leader(partition)].append(partition)
        found = {}
        for link, partitions in by_leader.items():
            request = ListOffsetsRequest(
                replica_id=_CONSUMER,
                isolation_level=isolation,
                topics=_requested(partitions, requested),
            )
            for topic in (await link.send_request(request)).topics:
                for each in topic.partitions:
                    name = TopicPartition(topic.name, each.partition_index)
                    require(each.error_code, f"the offsets of {topic.name}-{each.partition_index}")
                    found[name] = each.offset
        return {partition: found[partition] for partition in requested}

    return await cluster.persist(attempt)


async def resolve(
    cluster: SourceCluster,
    partitions: Iterable[TopicPartition],
    position: Position,
    options: SourceOptions,
    *,
    is_start: bool,
) -> PerPartition:
    """Resolves the position to offsets."""
    isolation = READ_COMMITTED if options.read_committed else READ_UNCOMMITTED
    positions = {partition: position.of(partition) for partition in partitions}
    unknown = set(position.each).difference(positions)
    if unknown:
        raise OptionError(
            "offsets are given for partitions that are not read: "
            + ", ".join(f"{each.topic}-{each.partition}" for each in sorted(unknown))
        )
    requested = {
        partition: value
        for partition, value in positions.items()
        if position.is_timestamp or value in (EARLIEST, LATEST)
    }
    found = positions | (
        await list_offsets(cluster, requested, isolation=isolation) if requested else {}
    )
    late = [partition for partition in requested if found[partition] == _NOT_FOUND]
    if late and is_start and not options.is_late_timestamp_latest:
        raise OptionError(
            f"{late[0].topic}-{late[0].partition} has no record at or after the given timestamp; "
            "startingOffsetsByTimestampStrategy=latest starts at its end instead"
        )
    ends = dict.fromkeys(late, LATEST)
    return found | (await list_offsets(cluster, ends, isolation=isolation) if ends else {})


def _requested(
    partitions: Iterable[TopicPartition], requested: Mapping[TopicPartition, int]
) -> list[ListOffsetsTopic]:
    topics: dict[str, list[ListOffsetsPartition]] = defaultdict(list)
    for each in partitions:
        topics[each.topic].append(
            ListOffsetsPartition(partition_index=each.partition, timestamp=requested[each])
        )
    return [
        ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()
    ]
