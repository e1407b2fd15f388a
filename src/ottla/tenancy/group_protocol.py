"""Names of topics in the bytes that classic members of a group send each other.

The coordinator reads subscriptions too, so they have the cluster's names there. Bytes that are not
of the consumer protocol are left alone, because only members of the same group read them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.schema import Message
from ottla.wire.stored.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

Rename = Callable[[str], str]
_VERSION_BYTES: Final = 2


def rewritten_subscription(data: Buffer, rename: Rename) -> Buffer:
    decoded = _decoded(ConsumerProtocolSubscription, data)
    if decoded is None:
        return data
    subscription, version, rest = decoded
    assert isinstance(subscription, ConsumerProtocolSubscription)
    subscription.topics = [rename(name) for name in subscription.topics]
    for each in subscription.owned_partitions:
        each.topic = rename(each.topic)
    return bytes(data[:_VERSION_BYTES]) + subscription.encode(version) + rest


def rewritten_assignment(data: Buffer, rename: Rename) -> Buffer:
    decoded = _decoded(ConsumerProtocolAssignment, data)
    if decoded is None:
        return data
    assignment, version, rest = decoded
    assert isinstance(assignment, ConsumerProtocolAssignment)
    for each in assignment.assigned_partitions:
        each.topic = rename(each.topic)
    return bytes(data[:_VERSION_BYTES]) + assignment.encode(version) + rest


def _decoded(cls: type[Message], data: Buffer) -> tuple[Message, int, bytes] | None:
    """The message, the version that it is read in, and what follows it: a later version has more
    fields. None if these are other bytes."""
    if len(data) < _VERSION_BYTES:
        return None
    declared = int.from_bytes(data[:_VERSION_BYTES], signed=True)
    if declared < 0:
        return None
    version = min(declared, cls.versions.highest)
    try:
        message, end = cls.decode_from(data, version, _VERSION_BYTES)
    except ProtocolError:
        return None
    if end != len(data) and version == declared:
        return None
    return message, version, bytes(data[end:])
