"""Replays the records of share groups.

Compaction keeps the last record of each key, so records may come in any order. The first record of
a group or member creates it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ottla.assignors.assignor import NO_PARTITIONS
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.groups.share.group import ShareGroup
from ottla.coordinator.groups.share.group_records import assignment_of
from ottla.coordinator.groups.share.member import ShareMember
from ottla.coordinator.groups.share.state_partitions import StatePartitions, state_partitions_of
from ottla.wire.schema import Message
from ottla.wire.stored import share_groups as stored


class ShareReplay:
    """Created with the coordinator of a partition."""

    def __init__(self, groups: Groups, now_ms: Callable[[], int]) -> None:
        self._groups = groups
        self._now_ms = now_ms

    @property
    def replays(self) -> dict[type[Message], Callable[[Any, Any], None]]:
        """The replay functions by the type of the record's key."""
        return {
            stored.ShareGroupMetadataKey: self._replay_group,
            stored.ShareGroupMemberMetadataKey: self._replay_member,
            stored.ShareGroupTargetAssignmentMetadataKey: self._replay_target_epoch,
            stored.ShareGroupTargetAssignmentMemberKey: self._replay_target,
            stored.ShareGroupCurrentMemberAssignmentKey: self._replay_current,
            stored.ShareGroupStatePartitionMetadataKey: self._replay_state_partitions,
        }

    def _get(self, group_id: str) -> ShareGroup | None:
        group = self._groups.get(group_id)
        return group if isinstance(group, ShareGroup) else None

    def _get_or_make(self, group_id: str) -> ShareGroup:
        group = self._get(group_id)
        if group is None:
            group = ShareGroup(group_id)
            self._groups.put(group)
        return group

    def _replay_group(
        self, key: stored.ShareGroupMetadataKey, value: stored.ShareGroupMetadataValue | None
    ) -> None:
        if value is None:
            if self._get(key.group_id) is not None:
                self._groups.remove(key.group_id)
            return
        group = self._get_or_make(key.group_id)
        group.epoch = value.epoch
        group.metadata_hash = value.metadata_hash

    def _replay_member(
        self,
        key: stored.ShareGroupMemberMetadataKey,
        value: stored.ShareGroupMemberMetadataValue | None,
    ) -> None:
        if value is None:
            if (known := self._get(key.group_id)) is not None:
                known.remove_member(key.member_id)
            return
        group = self._get_or_make(key.group_id)
        before = group.members.get(key.member_id) or ShareMember(key.member_id)
        group.put_member(
            replace(
                before,
                rack_id=value.rack_id,
                client_id=value.client_id,
                client_host=value.client_host,
                topics=frozenset(value.subscribed_topic_names),
            )
        )

    def _replay_target_epoch(
        self,
        key: stored.ShareGroupTargetAssignmentMetadataKey,
        value: stored.ShareGroupTargetAssignmentMetadataValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            group.target_epoch = value.assignment_epoch
            group.target_timestamp = value.assignment_timestamp

    def _replay_target(
        self,
        key: stored.ShareGroupTargetAssignmentMemberKey,
        value: stored.ShareGroupTargetAssignmentMemberValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            group.targets[key.member_id] = assignment_of(value.topic_partitions)
        elif (known := self._get(key.group_id)) is not None:
            known.targets.pop(key.member_id, None)

    def _replay_current(
        self,
        key: stored.ShareGroupCurrentMemberAssignmentKey,
        value: stored.ShareGroupCurrentMemberAssignmentValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            before = group.members.get(key.member_id) or ShareMember(key.member_id)
            group.put_member(
                replace(
                    before,
                    epoch=value.member_epoch,
                    previous_epoch=value.previous_member_epoch,
                    assigned=assignment_of(value.assigned_partitions),
                )
            )
            return
        known = self._get(key.group_id)
        member = None if known is None else known.members.get(key.member_id)
        if known is not None and member is not None:
            known.put_member(replace(member, epoch=-1, previous_epoch=-1, assigned=NO_PARTITIONS))

    def _replay_state_partitions(
        self,
        key: stored.ShareGroupStatePartitionMetadataKey,
        value: stored.ShareGroupStatePartitionMetadataValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            group.state_partitions = state_partitions_of(value, now_ms=self._now_ms())
        elif (known := self._get(key.group_id)) is not None:
            known.state_partitions = StatePartitions()
