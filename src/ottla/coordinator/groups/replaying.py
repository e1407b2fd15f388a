"""Replays the records of `__consumer_offsets` into the groups and offsets of one partition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.group_replay import replayed_group
from ottla.coordinator.groups.consumer.group_replay import ConsumerReplay
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.share.group_replay import ShareReplay
from ottla.coordinator.offsets.offset_records import read_offset
from ottla.model import NO_PRODUCER_ID, TopicPartition
from ottla.wire.schema import Message
from ottla.wire.stored.coordinator_records import GROUP_RECORDS, CoordinatorRecords
from ottla.wire.stored.groups import GroupMetadataKey, GroupMetadataValue
from ottla.wire.stored.offsets import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)


class GroupReplay:
    """The part of a group coordinator that replays the log."""

    record_types: ClassVar[CoordinatorRecords] = GROUP_RECORDS

    def __init__(self, context: GroupContext) -> None:
        self._context = context
        self.groups = context.groups
        self.offsets = context.offsets
        # The replay functions by the type of the record's key.
        self._replays: dict[type[Message], Callable[[Any, Any], None]] = {
            GroupMetadataKey: self._replay_group,
            **ConsumerReplay(context.groups).replays,
            **ShareReplay(context.groups, context.now_ms).replays,
        }

    def replay(
        self, key: Message, value: Message | None, *, offset: int, producer_id: int = NO_PRODUCER_ID
    ) -> None:
        if isinstance(key, OffsetCommitKey | LegacyOffsetCommitKey):
            assert value is None or isinstance(value, OffsetCommitValue | LegacyOffsetCommitValue)
            self._replay_offset(key, value, offset, producer_id)
            return
        replay = self._replays.get(type(key))
        if replay is not None:
            replay(key, value)

    def replay_end_transaction(self, producer_id: int, *, is_committed: bool) -> None:
        self.offsets.end_transaction(producer_id, is_committed=is_committed)

    def _replay_offset(
        self,
        key: OffsetCommitKey | LegacyOffsetCommitKey,
        value: OffsetCommitValue | LegacyOffsetCommitValue | None,
        offset: int,
        producer_id: int,
    ) -> None:
        name = TopicPartition(key.topic, key.partition)
        if value is None:
            self.offsets.remove(key.group, name)
            return
        if self.groups.get(key.group) is None:
            # A commit without membership creates a group without members.
            self.groups.put(ClassicGroup(key.group, now_ms=self._context.now_ms()))
        committed = read_offset(value, record_offset=offset)
        self.offsets.put(key.group, name, committed, producer_id=producer_id)

    def _replay_group(self, key: GroupMetadataKey, value: GroupMetadataValue | None) -> None:
        if value is None:
            # Keeps a group that was converted to the consumer protocol.
            if self.groups.get_classic(key.group) is not None:
                self.groups.remove(key.group)
        else:
            self.groups.put(replayed_group(key.group, value))
