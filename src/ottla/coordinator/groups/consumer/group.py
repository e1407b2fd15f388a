"""A group of the consumer protocol.

There are three epochs. The group epoch rises with every change of members, subscriptions or topics.
The target epoch is the group epoch for which the target assignment was computed. The member epoch
is the target epoch that the member has reached. Only replaying records changes a group.

Invariant: a partition has at most one owner, from its assignment until the member confirms that it
has revoked it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.assignors.assignor import (
    NO_PARTITIONS,
    Assignment,
    TopicIdPartition,
)
from ottla.coordinator.groups.consumer.group_records import group_tombstones
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.member_counts import MemberCounts
from ottla.coordinator.groups.consumer.resolved_regex import ResolvedRegex
from ottla.coordinator.groups.group import Group, GroupType
from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.model import ErrorCode, KafkaError

_EPOCH_VERSION: Final = 9


class ConsumerGroup(Group):
    """Owned by the coordinator's `Groups`."""

    __slots__ = (
        "_owners",
        "counts",
        "epoch",
        "is_assigning",
        "is_metadata_stale",
        "members",
        "metadata_hash",
        "regexes",
        "static_members",
        "target_epoch",
        "target_timestamp",
        "targets",
    )

    type = GroupType.CONSUMER

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.epoch = 0
        self.metadata_hash = 0
        self.members: dict[str, ConsumerMember] = {}
        self.counts = MemberCounts()
        self.static_members: dict[str, str] = {}
        self.target_epoch = 0
        self.target_timestamp = 0
        self.targets: dict[str, Assignment] = {}
        self.regexes: dict[str, ResolvedRegex] = {}
        self._owners: dict[TopicIdPartition, str] = {}
        # Whether topics may have changed since the group last checked.
        self.is_metadata_stale = True
        # Whether a target assignment for a later epoch is scheduled or being computed.
        self.is_assigning = False

    def topics_changed(self) -> None:
        self.is_metadata_stale = True

    @property
    def state_name(self) -> str:
        if not self.members:
            return "Empty"
        if self.epoch > self.target_epoch:
            return "Assigning"
        is_stable = self.counts.stable[self.target_epoch] == len(self.members)
        return "Stable" if is_stable else "Reconciling"

    @property
    def next_epoch(self) -> int:
        """The highest epoch that members can reach now."""
        return self.target_epoch if self.is_assigning else self.epoch

    @property
    def protocol_type(self) -> str:
        return "consumer"

    @property
    def is_empty(self) -> bool:
        return not self.members

    # ---- members

    def require_member(self, member_id: str) -> ConsumerMember:
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"Member {member_id} is not a member of group {self.id}.",
            )
        return member

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        member_id = self.static_members.get(instance_id)
        return None if member_id is None else self.members[member_id]

    def require_static_member(self, instance_id: str, member_id: str) -> ConsumerMember:
        """Raises KafkaError if the static member is unknown, or another member replaced it."""
        member = self.static_member(instance_id)
        if member is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if member.id != member_id:
            raise KafkaError(
                ErrorCode.FENCED_INSTANCE_ID, f"instance {instance_id} is member {member.id} now"
            )
        return member

    def put_member(self, member: ConsumerMember) -> None:
        before = self.members.get(member.id)
        if before is None:
            self.counts.add(member)
        else:
            self._let_go(before)
            self.counts.replace(before, member)
        self.members[member.id] = member
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.id
        for partition in member.owned:
            self._owners[partition] = member.id

    def remove_member(self, member_id: str) -> None:
        member = self.members.pop(member_id, None)
        if member is None:
            return
        self._let_go(member)
        self.counts.remove(member)
        if (
            member.instance_id is not None
            and self.static_members.get(member.instance_id) == member_id
        ):
            del self.static_members[member.instance_id]

    def _let_go(self, member: ConsumerMember) -> None:
        for partition in member.owned:
            if self._owners.get(partition) == member.id:
                del self._owners[partition]

    def owner_of(self, partition: TopicIdPartition) -> str | None:
        return self._owners.get(partition)

    def target_of(self, member_id: str) -> Assignment:
        return self.targets.get(member_id, NO_PARTITIONS)

    # ---- offsets

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.counts.topics or any(
            topic in resolved.topics for resolved in self.regexes.values()
        )

    def require_may_commit(
        self,
        *,
        member_id: str,
        instance_id: str | None,
        epoch: int,
        version: int | None,
    ) -> None:
        if epoch < 0 and self.is_empty:
            return
        if version is None and epoch < 0 and not member_id and instance_id is None:
            # A producer that sends no member; TxnOffsetCommit allows it.
            return
        member = self.require_member(member_id)
        if member.classic is None and version is not None and version < _EPOCH_VERSION:
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"members of a consumer group need OffsetCommit version {_EPOCH_VERSION} "
                "or newer, which has the member epoch",
            )
        _check_epoch(member, epoch)

    def require_may_fetch(self, *, member_id: str | None, epoch: int) -> None:
        if member_id is None and epoch < 0:
            # An admin client, or a client that sends no member.
            return
        _check_epoch(self.require_member(member_id or ""), epoch)

    def require_may_delete_offsets(self) -> None:
        """Always allowed, for topics without a subscribed member."""

    def offset_idle_since(self, committed: CommittedOffset) -> int | None:
        return committed.commit_timestamp

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        member_ids = dict.fromkeys([*self.members, *self.targets])
        return group_tombstones(self.id, member_ids, self.regexes)


def _check_epoch(member: ConsumerMember, epoch: int) -> None:
    if epoch != member.epoch:
        is_classic = member.classic is not None
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH,
            f"member {member.id} has epoch {member.epoch}, not {epoch}",
        )
