"""Converts an image to records, in the order of Kafka's snapshots.

Features come first, so that a reader has the metadata.version before any other record.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.metadata.features import METADATA_VERSION
from ottla.metadata.image import MetadataImage
from ottla.metadata.topic_owner import topic_record
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ClientQuotaRecord, ConfigRecord, EntityData
from ottla.wire.stored.cluster_metadata.features import FeatureLevelRecord
from ottla.wire.stored.cluster_metadata.producer_ids import ProducerIdsRecord


def image_records(image: MetadataImage) -> Iterator[Message]:
    """The records that recreate this image."""
    yield from _features(image)
    for broker in image.brokers.values():
        yield broker.to_record()
    for controller in image.controllers.values():
        yield controller.to_record()
    yield from _topics(image)
    yield from _configs(image)
    yield from _client_quotas(image)
    if image.next_producer_id:
        # The broker that took the last block is not kept, as in Kafka's snapshots.
        yield ProducerIdsRecord(
            broker_id=-1, broker_epoch=-1, next_producer_id=image.next_producer_id
        )
    yield from image.access_control_entries.values()
    yield from image.scram_credentials.values()
    yield from image.delegation_tokens.values()


def _features(image: MetadataImage) -> Iterator[Message]:
    names = sorted(image.features, key=lambda name: name != METADATA_VERSION)
    for name in names:
        yield FeatureLevelRecord(name=name, feature_level=image.features[name])


def _topics(image: MetadataImage) -> Iterator[Message]:
    for topic in image.topics:
        yield topic_record(topic.name, topic.id, topic.owner)
        for partition_id, partition in topic.partitions.items():
            yield partition.to_record(topic.id, partition_id)


def _configs(image: MetadataImage) -> Iterator[Message]:
    for resource, configs in image.configs.items():
        for name, value in configs.items():
            yield ConfigRecord(
                resource_type=resource.type, resource_name=resource.name, name=name, value=value
            )


def _client_quotas(image: MetadataImage) -> Iterator[Message]:
    for entity, quotas in image.client_quotas.items():
        parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]
        for key, value in quotas.items():
            yield ClientQuotaRecord(entity=parts, key=key, value=value)
