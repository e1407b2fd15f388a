"""The state of a cluster according to its metadata records (KIP-631): values and rules, no I/O."""

from ottla.metadata.broker import (
    BrokerRegistration,
    ControllerRegistration,
    Endpoint,
    VersionRange,
)
from ottla.metadata.deleted_topic import DeletedTopic
from ottla.metadata.delta import MetadataDelta
from ottla.metadata.errors import MetadataError
from ottla.metadata.features import SUPPORTED_FEATURES
from ottla.metadata.image import MetadataImage
from ottla.metadata.image_records import image_records
from ottla.metadata.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.record_versions import record_version
from ottla.metadata.replay import MetadataReplay, apply
from ottla.metadata.topic import TopicImage, Topics

__all__ = [
    "NO_LEADER",
    "SUPPORTED_FEATURES",
    "BrokerRegistration",
    "ControllerRegistration",
    "DeletedTopic",
    "Endpoint",
    "MetadataDelta",
    "MetadataError",
    "MetadataImage",
    "MetadataReplay",
    "PartitionRegistration",
    "TopicImage",
    "Topics",
    "VersionRange",
    "apply",
    "image_records",
    "record_version",
]
