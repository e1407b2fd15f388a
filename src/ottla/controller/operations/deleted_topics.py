"""Deleted topics: kept for `ottla.delete.retention.ms` after DeleteTopics, then purged.

    live ──DeleteTopics──▶ deleted ──CreateTopics with ottla.undelete=<topic id>──▶ live
                              └──DeleteTopics of `orders~<topic id>`, or expired──▶ purged

A deleted topic keeps its id, and the registrations of its partitions are maintained as if it were
live: a replica that may have lost records leaves the ISR, so that a restored partition is led by a
replica that has all of them. Brokers keep the logs as long as the metadata has the deleted topic.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from itertools import islice
from typing import Final

from ottla.configs import ConfigResource, ConfigResourceType
from ottla.controller.operation import Context, OperationOutcome
from ottla.metadata import DeletedTopic, MetadataImage, PartitionRegistration, TopicImage
from ottla.metadata.deleted_topic import (
    DELETED_AT,
    DELETED_OWNER,
    DELETED_PARTITION,
    DELETED_UNTIL,
    encode_partition,
)
from ottla.model import Uuid
from ottla.tenancy.tenant import tenant_name_of, tenants_of
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord

# Removing a topic of a few partitions takes some ten microseconds.
_PURGED_AT_ONCE: Final = 100


def keeping_records(
    image: MetadataImage,
    topics: Iterable[TopicImage],
    purged: Container[Uuid],
    context: Context,
) -> list[Message]:
    """The records that keep topics which are about to be removed, and purge earlier ones if there
    are more partitions than `ottla.delete.retention.partitions.max`: first those of the same
    tenants or users, then those of all. `purged` are purged by the same operation."""
    records: list[Message] = []
    tenants = tenants_of(image.cluster_configs)
    owners: set[str] = set()
    room = context.node.deleted_partitions_max
    for topic in topics:
        config = context.node.topic_config(image.topic_configs(topic.name))
        if config.deleted_retention_ms > 0 and len(topic.partitions) <= room:
            room -= len(topic.partitions)
            owners.add(_owner_of(topic, tenants))
            until_ms = context.now_ms + config.deleted_retention_ms
            records += _topic_records(image, topic, deleted_ms=context.now_ms, until_ms=until_ms)
    if records:
        is_full = False
        kept = [topic for topic in image.deleted_topics if topic.id not in purged]
        kept.sort(key=_deleted_ms, reverse=True)
        for earlier in sorted(kept, key=lambda topic: _owner_of(topic, tenants) in owners):
            room -= len(earlier.partitions)
            is_full = is_full or room < 0
            if is_full:
                records += removal_records(image, earlier)
    return records


def removal_records(image: MetadataImage, topic: DeletedTopic) -> list[Message]:
    """The records after which a deleted topic can no longer be restored."""
    resource = ConfigResource(ConfigResourceType.TOPIC, topic.resource_name)
    return [_config(topic.resource_name, name, None) for name in image.configs_of(resource)]


def partition_record(
    topic: DeletedTopic, partition_id: int, registration: PartitionRegistration
) -> Message:
    """The record of a partition that has changed, although its topic is deleted."""
    name = f"{DELETED_PARTITION}{partition_id}"
    return _config(topic.resource_name, name, encode_partition(registration))


def expired_topics(image: MetadataImage, now_ms: int) -> list[DeletedTopic]:
    """Deleted topics whose time has passed, at most as many as are purged at once."""
    return list(islice(_expired(image, now_ms), _PURGED_AT_ONCE))


def purge_expired_topics(
    image: MetadataImage,
    request: DeleteTopicsRequest,  # noqa: ARG001 - every operation's signature
    context: Context,
) -> OperationOutcome[DeleteTopicsResponse]:
    """Purges some of the expired topics; the controller repeats it while there are any."""
    records = [
        record
        for topic in expired_topics(image, context.now_ms)
        for record in removal_records(image, topic)
    ]
    return OperationOutcome(records, DeleteTopicsResponse())


def _expired(image: MetadataImage, now_ms: int) -> Iterator[DeletedTopic]:
    return (topic for topic in image.deleted_topics if topic.until_ms <= now_ms)


def _owner_of(topic: TopicImage | DeletedTopic, tenants: Container[str]) -> str:
    """The topic's tenant, or else the user that created it. Prefixes keep the two apart."""
    tenant = tenant_name_of(topic.name)
    return f"tenant:{tenant}" if tenant in tenants else f"user:{topic.owner}"


def _deleted_ms(topic: DeletedTopic) -> int:
    return topic.deleted_ms


def _topic_records(
    image: MetadataImage, topic: TopicImage, *, deleted_ms: int, until_ms: int
) -> Iterator[Message]:
    name = DeletedTopic(topic.id, topic.name).resource_name
    yield _config(name, DELETED_AT, str(deleted_ms))
    yield _config(name, DELETED_UNTIL, str(until_ms))
    if topic.owner:
        yield _config(name, DELETED_OWNER, topic.owner)
    for config, value in image.topic_configs(topic.name).items():
        yield _config(name, config, value)
    for partition_id, partition in topic.partitions.items():
        yield _config(name, f"{DELETED_PARTITION}{partition_id}", encode_partition(partition))


def _config(resource_name: str, name: str, value: str | None) -> Message:
    return ConfigRecord(
        resource_type=ConfigResourceType.TOPIC, resource_name=resource_name, name=name, value=value
    )
