"""Topics and their partitions, as commands name them, and offsets in them."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.cli.connection import cluster_errors
from ottla.cli.connection.admin_connection import doing
from ottla.client.administration.admin import Admin
from ottla.client.administration.offsets import ListedOffset, OffsetSpec
from ottla.client.administration.topics import TopicDescription
from ottla.client.errors import UnknownTopicOrPartitionError
from ottla.model import TopicPartition


async def existing_topic(admin: Admin, name: str) -> TopicDescription:
    """Raises CommandError for a topic that does not exist, or that the user may not see."""
    with doing(f"describe topic {name}"):
        try:
            return await admin.describe_topic(name)
        except UnknownTopicOrPartitionError:
            known = await admin.list_topics()
    raise cluster_errors.unknown_topic(name, known)


async def existing_partitions(admin: Admin, topic: str, requested: Iterable[int] = ()) -> list[int]:
    """The requested partitions of a topic, or all, in order. Raises CommandError."""
    existing = [each.partition for each in (await existing_topic(admin, topic)).partitions]
    chosen = sorted(set(requested)) or existing
    if missing := [partition for partition in chosen if partition not in existing]:
        raise cluster_errors.unknown_partitions(topic, missing, len(existing))
    return chosen


async def earliest_offsets(admin: Admin, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    return await _offsets(admin, topic, partitions, OffsetSpec.EARLIEST)


async def latest_offsets(admin: Admin, topic: str, partitions: Iterable[int]) -> dict[int, int]:
    """The offset of the next record in each partition."""
    return await _offsets(admin, topic, partitions, OffsetSpec.LATEST)


async def last_stable_offsets(
    admin: Admin, topic: str, partitions: Iterable[int]
) -> dict[int, int]:
    """The last stable offset of each partition, up to which read_committed consumers read."""
    return await _offsets(admin, topic, partitions, OffsetSpec.LATEST, read_committed=True)


async def offsets_at_time(
    admin: Admin, topic: str, partitions: Iterable[int], timestamp_ms: int
) -> dict[int, ListedOffset | None]:
    """The first record with that timestamp or a later one in each partition, or None."""
    return await _listed(admin, topic, partitions, timestamp_ms)


async def _offsets(
    admin: Admin,
    topic: str,
    partitions: Iterable[int],
    spec: OffsetSpec,
    *,
    read_committed: bool = False,
) -> dict[int, int]:
    listed = await _listed(admin, topic, partitions, spec, read_committed=read_committed)
    return {partition: found.offset for partition, found in listed.items() if found is not None}


async def _listed(
    admin: Admin,
    topic: str,
    partitions: Iterable[int],
    place: int,
    *,
    read_committed: bool = False,
) -> dict[int, ListedOffset | None]:
    places = {TopicPartition(topic, partition): place for partition in partitions}
    with doing(f"list the offsets of {topic}"):
        results = await admin.list_offsets(places, read_committed=read_committed)
    for name, error in results.failed.items():
        raise cluster_errors.refused(f"list the offsets of {name}", error)
    return {name.partition: found for name, found in results.succeeded.items()}
