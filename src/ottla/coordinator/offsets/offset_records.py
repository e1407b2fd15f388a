"""Committed offsets as records of `__consumer_offsets`."""

from __future__ import annotations

from typing import Final

from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.model import NO_TIMESTAMP, TopicPartition
from ottla.wire.stored.offsets import (
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)

_VERSION: Final = 4
# The only version with an expiry.
_EXPIRING_VERSION: Final = 1


def offset_record(
    group_id: str, name: TopicPartition, committed: CommittedOffset
) -> CoordinatorRecord:
    expires = committed.expire_timestamp != NO_TIMESTAMP
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp,
        expire_timestamp=committed.expire_timestamp,
        topic_id=committed.topic_id,
    )
    return CoordinatorRecord(
        _key(group_id, name), value, _EXPIRING_VERSION if expires else _VERSION
    )


def offset_tombstone(group_id: str, name: TopicPartition) -> CoordinatorRecord:
    return CoordinatorRecord(_key(group_id, name), None)


def _key(group_id: str, name: TopicPartition) -> OffsetCommitKey:
    return OffsetCommitKey(group=group_id, topic=name.topic, partition=name.partition)


def read_offset(
    value: OffsetCommitValue | LegacyOffsetCommitValue, *, record_offset: int
) -> CommittedOffset:
    if isinstance(value, LegacyOffsetCommitValue):
        return CommittedOffset(
            value.offset,
            metadata=value.metadata,
            commit_timestamp=value.commit_timestamp,
            record_offset=record_offset,
        )
    return CommittedOffset(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
        value.topic_id,
        record_offset,
    )
