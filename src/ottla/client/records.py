"""What applications get and give: records, their places, and offsets of groups."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ottla.wire.records.header import TimestampType

Headers: TypeAlias = "tuple[tuple[str, bytes | None], ...]"


class ConsumedRecord(NamedTuple):
    """One record of a partition. `timestamp` is in milliseconds since 1970."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: TimestampType
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    leader_epoch: int = -1


class RecordMetadata(NamedTuple):
    """Where a record was written. The offset is -1 if the broker does not say, as with acks=0."""

    topic: str
    partition: int
    offset: int
    timestamp: int


class OffsetAndMetadata(NamedTuple):
    """An offset to commit: that of the next record to read. `metadata` is a text of the
    application."""

    offset: int
    leader_epoch: int = -1
    metadata: str = ""


class ConsumerGroupMetadata(NamedTuple):
    """A member of a group, by which the group refuses the offsets of members that have left
    (KIP-447)."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
