"""Config changes as records, and the rules of eligible leader replicas for min.insync.replicas.

The eligible leader replicas of a topic depend on its min.insync.replicas (KIP-966), so a change of
it clears them. While the feature is enabled, the cluster-level config cannot be removed and
broker-level configs cannot be set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs import BROKERS_DEFAULT, ConfigResource, ConfigResourceType
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.wire.schema import Message
from ottla.wire.stored.cluster_metadata.configs import ConfigRecord
from ottla.wire.stored.cluster_metadata.topics import ClearElrRecord

MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


def config_records(
    image: MetadataImage, resource: ConfigResource, changes: Mapping[str, str | None]
) -> list[Message]:
    """Raises KafkaError for a change that is not allowed with eligible leader replicas."""
    records: list[Message] = [
        ConfigRecord(
            resource_type=resource.type, resource_name=resource.name, name=name, value=value
        )
        for name, value in changes.items()
    ]
    if MIN_INSYNC_REPLICAS in changes and image.has_eligible_leader_replicas:
        _check_minimum(resource, changes[MIN_INSYNC_REPLICAS])
        is_topic = resource.type is ConfigResourceType.TOPIC
        records.append(ClearElrRecord(topic_name=resource.name if is_topic else ""))
    return records


def _check_minimum(resource: ConfigResource, value: str | None) -> None:
    if resource == BROKERS_DEFAULT and value is None:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.",
        )
    if resource.type is ConfigResourceType.BROKER and resource.name and value is not None:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
        )
