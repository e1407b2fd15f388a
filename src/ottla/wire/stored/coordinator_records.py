"""Keys and values of the internal topics, as coordinators store them.

A key is its record type in two bytes, followed by a body in version 0; a value is its version in
two bytes, followed by a body. The key determines the class of the value; a null value deletes what
the key names.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct as Layout

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.schema import Message
from ottla.wire.stored import consumer_groups as consumer
from ottla.wire.stored import groups, offsets, shares, transactions
from ottla.wire.stored import share_groups as share
from ottla.wire.stored import streams_groups as streams

KEY_VERSION = 0
_PREFIX = Layout(">h")


class CoordinatorRecords:
    """The record types of one internal topic, as pairs of key and value. Immutable.

    `is_incremental`: a record may change what earlier ones with its key say, instead of replacing
    it.
    """

    def __init__(
        self, *pairs: tuple[type[Message], type[Message]], is_incremental: bool = False
    ) -> None:
        self.is_incremental = is_incremental
        self._by_type = {key.api_key: (key, value) for key, value in pairs}
        self._prefixes = {key.api_key: _PREFIX.pack(key.api_key) for key, _ in pairs}
        assert len(self._by_type) == len(pairs)
        assert all(key.api_key == value.api_key for key, value in pairs)

    def __iter__(self) -> Iterator[tuple[type[Message], type[Message]]]:
        return iter(self._by_type.values())

    def encode_key(self, key: Message) -> bytes:
        assert self._by_type[key.api_key][0] is type(key)
        parts = [self._prefixes[key.api_key]]
        key.encode_into(parts, KEY_VERSION)
        return b"".join(parts)

    def encode_value(self, value: Message, version: int) -> bytes:
        assert self._by_type[value.api_key][1] is type(value)
        parts = [_PREFIX.pack(version)]
        value.encode_into(parts, version)
        return b"".join(parts)

    def decode_key(self, data: Buffer) -> Message:
        record_type = _prefix(data, "key")
        if record_type not in self._by_type:
            raise ProtocolError(f"a key has record type {record_type}, which is unknown here")
        return _decode(self._by_type[record_type][0], data, KEY_VERSION)

    def decode_value(self, key: Message, data: Buffer) -> tuple[Message, int]:
        """Decodes the value of a decoded key. Returns it with its version."""
        version = _prefix(data, "value")
        return _decode(self._by_type[key.api_key][1], data, version), version


def _prefix(data: Buffer, title: str) -> int:
    if len(data) < _PREFIX.size:
        raise ProtocolError(f"a {title} of {len(data)} bytes is too short for a coordinator's")
    prefix: int = _PREFIX.unpack_from(data)[0]
    return prefix


def _decode(cls: type[Message], data: Buffer, version: int) -> Message:
    return cls.decode(memoryview(data)[_PREFIX.size :], version)


GROUP_RECORDS = CoordinatorRecords(
    (offsets.LegacyOffsetCommitKey, offsets.LegacyOffsetCommitValue),
    (offsets.OffsetCommitKey, offsets.OffsetCommitValue),
    (groups.GroupMetadataKey, groups.GroupMetadataValue),
    (consumer.ConsumerGroupMetadataKey, consumer.ConsumerGroupMetadataValue),
    (consumer.ConsumerGroupPartitionMetadataKey, consumer.ConsumerGroupPartitionMetadataValue),
    (consumer.ConsumerGroupMemberMetadataKey, consumer.ConsumerGroupMemberMetadataValue),
    (
        consumer.ConsumerGroupTargetAssignmentMetadataKey,
        consumer.ConsumerGroupTargetAssignmentMetadataValue,
    ),
    (
        consumer.ConsumerGroupTargetAssignmentMemberKey,
        consumer.ConsumerGroupTargetAssignmentMemberValue,
    ),
    (
        consumer.ConsumerGroupCurrentMemberAssignmentKey,
        consumer.ConsumerGroupCurrentMemberAssignmentValue,
    ),
    (share.ShareGroupMemberMetadataKey, share.ShareGroupMemberMetadataValue),
    (share.ShareGroupMetadataKey, share.ShareGroupMetadataValue),
    (share.ShareGroupTargetAssignmentMetadataKey, share.ShareGroupTargetAssignmentMetadataValue),
    (share.ShareGroupTargetAssignmentMemberKey, share.ShareGroupTargetAssignmentMemberValue),
    (share.ShareGroupCurrentMemberAssignmentKey, share.ShareGroupCurrentMemberAssignmentValue),
    (share.ShareGroupStatePartitionMetadataKey, share.ShareGroupStatePartitionMetadataValue),
    (consumer.ConsumerGroupRegularExpressionKey, consumer.ConsumerGroupRegularExpressionValue),
    (streams.StreamsGroupMetadataKey, streams.StreamsGroupMetadataValue),
    (streams.StreamsGroupMemberMetadataKey, streams.StreamsGroupMemberMetadataValue),
    (
        streams.StreamsGroupTargetAssignmentMetadataKey,
        streams.StreamsGroupTargetAssignmentMetadataValue,
    ),
    (
        streams.StreamsGroupTargetAssignmentMemberKey,
        streams.StreamsGroupTargetAssignmentMemberValue,
    ),
    (
        streams.StreamsGroupCurrentMemberAssignmentKey,
        streams.StreamsGroupCurrentMemberAssignmentValue,
    ),
    (streams.StreamsGroupTopologyKey, streams.StreamsGroupTopologyValue),
)

TRANSACTION_RECORDS = CoordinatorRecords(
    (transactions.TransactionLogKey, transactions.TransactionLogValue),
)

SHARE_RECORDS = CoordinatorRecords(
    (shares.ShareSnapshotKey, shares.ShareSnapshotValue),
    (shares.ShareUpdateKey, shares.ShareUpdateValue),
    is_incremental=True,
)
