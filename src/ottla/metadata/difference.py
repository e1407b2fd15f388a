"""The difference between two images, when there are no records: the later one is from a
snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.metadata.delta import MetadataDelta
from ottla.metadata.image import MetadataImage
from ottla.metadata.topic import TopicImage

K = TypeVar("K")
V = TypeVar("V")


def difference(before: MetadataImage, after: MetadataImage) -> MetadataDelta:
    """The delta from one image to the other."""
    delta = MetadataDelta(
        brokers_changed=_changed(before.brokers, after.brokers),
        controllers_changed=_changed(before.controllers, after.controllers),
        features_changed=_changed(before.features, after.features),
        client_quotas_changed=before.client_quotas != after.client_quotas,
        access_control_changed=before.access_control_entries != after.access_control_entries,
        scram_credentials_changed=before.scram_credentials != after.scram_credentials,
        delegation_tokens_changed=before.delegation_tokens != after.delegation_tokens,
        producer_ids_changed=before.next_producer_id != after.next_producer_id,
    )
    for topic_id, topic in before.topics.by_id.items():
        if not _is_same(topic, after.topics.by_id.get(topic_id)):
            delta.note_topic_removed(topic)
    for topic_id, topic in after.topics.by_id.items():
        known = before.topics.by_id.get(topic_id)
        if not _is_same(topic, known):
            known = None
            delta.topics_created[topic_id] = topic
        old_partitions = {} if known is None else known.partitions
        if partitions := _changed(old_partitions, topic.partitions):
            delta.partitions_changed[topic_id] = partitions
    old, new = before.deleted_topics.by_id, after.deleted_topics.by_id
    for topic_id in _changed(old, new):
        delta.deleted_topics_changed[topic_id] = (new.get(topic_id) or old[topic_id]).name
    _note_configs(before, after, delta)
    return delta


def _is_same(topic: TopicImage, other: TopicImage | None) -> bool:
    """A topic that was deleted and restored keeps its id, but may have another name."""
    return other is not None and other.name == topic.name


def _note_configs(before: MetadataImage, after: MetadataImage, delta: MetadataDelta) -> None:
    """A topic's configs are removed with it; a topic created again has only its new configs."""
    gone = {
        ConfigResource(ConfigResourceType.TOPIC, topic.name)
        for topic in delta.topics_removed.values()
    }
    for resource in {**before.configs, **after.configs}:
        old = {} if resource in gone else before.configs_of(resource)
        if names := set(_changed(old, after.configs_of(resource))):
            delta.configs_changed[resource] = names


def _changed(before: Mapping[K, V], after: Mapping[K, V]) -> dict[K, V | None]:
    """The previous value of each key whose value differs; None if the key is new."""
    keys = {**before, **after}
    return {key: before.get(key) for key in keys if before.get(key) != after.get(key)}
