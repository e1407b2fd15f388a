"""Records of topics and partitions."""

from __future__ import annotations

from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.metadata.delta import MetadataDelta
from ottla.metadata.errors import MetadataError
from ottla.metadata.image import MetadataImage
from ottla.metadata.partition import PartitionRegistration
from ottla.metadata.replay.registry import applies
from ottla.metadata.topic import TopicImage
from ottla.metadata.topic_owner import owner_of
from ottla.model import Uuid, uuid_to_text
from ottla.wire.stored.cluster_metadata.topics import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)


@applies(TopicRecord)
def apply_topic(image: MetadataImage, record: TopicRecord, delta: MetadataDelta) -> None:
    taken = image.topics.by_id.get(record.topic_id) or image.topics.by_name.get(record.name)
    if taken is not None:
        raise MetadataError(
            f"topic {record.name} is created with id {uuid_to_text(record.topic_id)}, "
            f"but topic {taken.name} with id {uuid_to_text(taken.id)} exists"
        )
    topic = TopicImage(record.topic_id, record.name, owner=owner_of(record))
    image.topics.add(topic)
    delta.topics_created[topic.id] = topic


@applies(RemoveTopicRecord)
def apply_topic_removal(
    image: MetadataImage, record: RemoveTopicRecord, delta: MetadataDelta
) -> None:
    topic = _topic(image, record.topic_id)
    image.topics.remove(topic)
    resource = ConfigResource(ConfigResourceType.TOPIC, topic.name)
    image.configs.pop(resource, None)
    delta.configs_changed.pop(resource, None)
    delta.note_topic_removed(topic)


@applies(PartitionRecord)
def apply_partition(image: MetadataImage, record: PartitionRecord, delta: MetadataDelta) -> None:
    """Creates a partition or, in early logs, replaces it."""
    topic = _topic(image, record.topic_id)
    partition_id = record.partition_id
    registration = PartitionRegistration.from_record(record, image.topics.shared_tuples)
    delta.note_partition(topic.id, partition_id, topic.partitions.get(partition_id))
    topic.partitions[partition_id] = registration


@applies(PartitionChangeRecord)
def apply_partition_change(
    image: MetadataImage, record: PartitionChangeRecord, delta: MetadataDelta
) -> None:
    topic = _topic(image, record.topic_id)
    before = topic.partitions.get(record.partition_id)
    if before is None:
        raise MetadataError(
            f"a record changes partition {topic.name}-{record.partition_id}, which does not exist"
        )
    registration = before.changed_by(record, image.topics.shared_tuples)
    delta.note_partition(topic.id, record.partition_id, before)
    topic.partitions[record.partition_id] = registration


@applies(ClearElrRecord)
def apply_clearing_of_elr(
    image: MetadataImage, record: ClearElrRecord, delta: MetadataDelta
) -> None:
    """Clears the eligible leader replicas of one topic, or of all topics if the name is empty
    (KIP-966)."""
    topics = list(image.topics)
    if record.topic_name:
        named = image.topics.by_name.get(record.topic_name)
        if named is None:
            raise MetadataError(
                f"a record clears the ELR of topic {record.topic_name}, which does not exist"
            )
        topics = [named]
    cleared = PartitionChangeRecord(eligible_leader_replicas=[], last_known_elr=[])
    for topic in topics:
        for partition_id, before in topic.partitions.items():
            if before.eligible_leader_replicas or before.last_known_elr:
                delta.note_partition(topic.id, partition_id, before)
                registration = before.changed_by(cleared, image.topics.shared_tuples)
                topic.partitions[partition_id] = registration


def _topic(image: MetadataImage, topic_id: Uuid) -> TopicImage:
    topic = image.topics.by_id.get(topic_id)
    if topic is None:
        raise MetadataError(f"there is no topic with id {uuid_to_text(topic_id)}")
    return topic
