"""Subscriptions and assignments as the members of a classic group exchange them: bytes that begin
with a version. Later versions only append fields."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from ottla.client.groups.assignors import MemberSubscription
from ottla.model import Buffer, TopicPartition
from ottla.wire.errors import ProtocolError
from ottla.wire.stored import consumer_protocol
from ottla.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

PROTOCOL_TYPE: Final = "consumer"
_VERSION: Final = 3
_version = struct.Struct(">h")


def encode_subscription(member: MemberSubscription) -> bytes:
    message = ConsumerProtocolSubscription(
        topics=sorted(member.topics),
        owned_partitions=_by_topic(member.owned),
        generation_id=member.generation,
        rack_id=member.rack_id,
    )
    return _version.pack(_VERSION) + message.encode(_VERSION)


def decode_subscription(data: Buffer, instance_id: str | None) -> MemberSubscription:
    """Raises ProtocolError."""
    version, body = _versioned(data)
    found, _ = ConsumerProtocolSubscription.decode_from(body, version)
    return MemberSubscription(
        frozenset(found.topics),
        frozenset(_partitions(found.owned_partitions)),
        found.generation_id,
        instance_id,
        found.rack_id,
    )


def encode_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    message = ConsumerProtocolAssignment(assigned_partitions=_by_topic(partitions))
    return _version.pack(_VERSION) + message.encode(_VERSION)


def decode_assignment(data: Buffer) -> frozenset[TopicPartition]:
    """Raises ProtocolError. The leader may send nothing to a member, not even a version."""
    if not data:
        return frozenset()
    version, body = _versioned(data)
    found, _ = ConsumerProtocolAssignment.decode_from(body, version)
    return frozenset(_partitions(found.assigned_partitions))


def _versioned(data: Buffer) -> tuple[int, bytes]:
    if len(data) < _version.size:
        raise ProtocolError(f"{len(data)} bytes of another member have no version")
    (version,) = _version.unpack_from(data)
    if version < 0:
        raise ProtocolError(f"another member has sent version {version}")
    return min(version, _VERSION), bytes(data[_version.size :])


def _by_topic(partitions: Iterable[TopicPartition]) -> list[consumer_protocol.TopicPartition]:
    topics: dict[str, list[int]] = defaultdict(list)
    for each in sorted(partitions):
        topics[each.topic].append(each.partition)
    return [
        consumer_protocol.TopicPartition(topic=topic, partitions=indexes)
        for topic, indexes in topics.items()
    ]


def _partitions(topics: Iterable[consumer_protocol.TopicPartition]) -> Iterable[TopicPartition]:
    for each in topics:
        for index in each.partitions:
            yield TopicPartition(each.topic, index)
