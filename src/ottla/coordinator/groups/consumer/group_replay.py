"""Replays the records of groups of the consumer protocol.

Compaction keeps the last record of each key, so records may come in any order. The first record of
a group or member creates it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ottla.assignors.assignor import NO_PARTITIONS
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.group_records import assignment_of
from ottla.coordinator.groups.consumer.member import LEAVE_EPOCH, ConsumerMember, MemberState
from ottla.coordinator.groups.consumer.resolved_regex import ResolvedRegex
from ottla.coordinator.groups.groups import Groups
from ottla.wire.schema import Message
from ottla.wire.stored import consumer_groups as stored


class ConsumerReplay:
    """Created with the coordinator of a partition."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups

    @property
    def replays(self) -> dict[type[Message], Callable[[Any, Any], None]]:
        """The replay functions by the type of the record's key."""
        return {
            stored.ConsumerGroupMetadataKey: self._replay_group,
            stored.ConsumerGroupMemberMetadataKey: self._replay_member,
            stored.ConsumerGroupTargetAssignmentMetadataKey: self._replay_target_epoch,
            stored.ConsumerGroupTargetAssignmentMemberKey: self._replay_target,
            stored.ConsumerGroupCurrentMemberAssignmentKey: self._replay_current,
            stored.ConsumerGroupRegularExpressionKey: self._replay_regex,
        }

    def _get(self, group_id: str) -> ConsumerGroup | None:
        group = self._groups.get(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def _get_or_make(self, group_id: str) -> ConsumerGroup:
        group = self._groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        # An existing classic group was created by offsets that were replayed before this record.
        made = ConsumerGroup(group_id)
        self._groups.put(made)
        return made

    def _replay_group(
        self,
        key: stored.ConsumerGroupMetadataKey,
        value: stored.ConsumerGroupMetadataValue | None,
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
        key: stored.ConsumerGroupMemberMetadataKey,
        value: stored.ConsumerGroupMemberMetadataValue | None,
    ) -> None:
        if value is None:
            group = self._get(key.group_id)
            if group is not None:
                group.remove_member(key.member_id)
            return
        group = self._get_or_make(key.group_id)
        before = group.members.get(key.member_id) or ConsumerMember(key.member_id)
        group.put_member(
            replace(
                before,
                instance_id=value.instance_id,
                rack_id=value.rack_id,
                client_id=value.client_id,
                client_host=value.client_host,
                rebalance_timeout_ms=value.rebalance_timeout_ms,
                topics=frozenset(value.subscribed_topic_names),
                regex=value.subscribed_topic_regex or None,
                assignor=value.server_assignor,
                classic=value.classic_member_metadata,
            )
        )

    def _replay_target_epoch(
        self,
        key: stored.ConsumerGroupTargetAssignmentMetadataKey,
        value: stored.ConsumerGroupTargetAssignmentMetadataValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            group.target_epoch = value.assignment_epoch
            group.target_timestamp = value.assignment_timestamp

    def _replay_target(
        self,
        key: stored.ConsumerGroupTargetAssignmentMemberKey,
        value: stored.ConsumerGroupTargetAssignmentMemberValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            group.targets[key.member_id] = assignment_of(value.topic_partitions)
        elif (known := self._get(key.group_id)) is not None:
            known.targets.pop(key.member_id, None)

    def _replay_current(
        self,
        key: stored.ConsumerGroupCurrentMemberAssignmentKey,
        value: stored.ConsumerGroupCurrentMemberAssignmentValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            before = group.members.get(key.member_id) or ConsumerMember(key.member_id)
            is_known = value.state in MemberState.__members__.values()
            group.put_member(
                replace(
                    before,
                    epoch=value.member_epoch,
                    previous_epoch=value.previous_member_epoch,
                    state=MemberState(value.state) if is_known else MemberState.UNKNOWN,
                    assigned=assignment_of(value.assigned_partitions),
                    pending_revocation=assignment_of(value.partitions_pending_revocation),
                )
            )
            return
        known = self._get(key.group_id)
        member = None if known is None else known.members.get(key.member_id)
        if known is not None and member is not None:
            known.put_member(
                replace(
                    member,
                    epoch=LEAVE_EPOCH,
                    previous_epoch=LEAVE_EPOCH,
                    state=MemberState.STABLE,
                    assigned=NO_PARTITIONS,
                    pending_revocation=NO_PARTITIONS,
                )
            )

    def _replay_regex(
        self,
        key: stored.ConsumerGroupRegularExpressionKey,
        value: stored.ConsumerGroupRegularExpressionValue | None,
    ) -> None:
        if value is not None:
            group = self._get_or_make(key.group_id)
            group.regexes[key.regular_expression] = ResolvedRegex.from_record(
                frozenset(value.topics), version=value.version, timestamp=value.timestamp
            )
        elif (known := self._get(key.group_id)) is not None:
            known.regexes.pop(key.regular_expression, None)
