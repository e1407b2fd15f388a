"""Subscriptions and assignments of classic members, in the format of the consumer clients.

In a group with members of both protocols, the coordinator decodes the subscriptions and encodes the
assignments, as the leader of a classic group does.
"""

from __future__ import annotations

import struct
from typing import Final

from ottla.assignors.assignor import Assignment, TopicIdPartition, by_topic
from ottla.metadata import MetadataImage
from ottla.wire.errors import ProtocolError
from ottla.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    TopicPartition,
)

_VERSION: Final = struct.Struct(">h")
_VERSION_MAX: Final = 3


def read_version(data: bytes) -> int:
    """The version to decode with. Later versions are decoded as the latest known version."""
    if len(data) < _VERSION.size:
        raise ProtocolError(f"{len(data)} bytes are too few for the embedded consumer protocol")
    version: int = _VERSION.unpack_from(data)[0]
    if version < 0:
        raise ProtocolError(f"the embedded consumer protocol has no version {version}")
    return min(version, _VERSION_MAX)


def read_subscription(data: bytes) -> ConsumerProtocolSubscription:
    version = read_version(data)
    return ConsumerProtocolSubscription.decode_from(data, version, _VERSION.size)[0]


def read_assignment(data: bytes, image: MetadataImage) -> Assignment:
    """The assignment, without deleted topics. Empty data is an empty assignment."""
    if not data:
        return frozenset()
    version = read_version(data)
    found = ConsumerProtocolAssignment.decode_from(data, version, _VERSION.size)[0]
    return with_ids(found.assigned_partitions, image)


def with_ids(topics: list[TopicPartition], image: MetadataImage) -> Assignment:
    known = image.topics.by_name
    return frozenset(
        TopicIdPartition(known[topic.topic].id, number)
        for topic in topics
        if topic.topic in known
        for number in topic.partitions
    )


def write_assignment(assignment: Assignment, image: MetadataImage, *, version: int) -> bytes:
    known = image.topics.by_id
    message = ConsumerProtocolAssignment(
        assigned_partitions=[
            TopicPartition(topic=known[topic_id].name, partitions=numbers)
            for topic_id, numbers in by_topic(assignment).items()
            if topic_id in known
        ]
    )
    return _VERSION.pack(version) + message.encode(version)
