"""A share group.

The group epoch rises with every change of members, subscriptions or initialized partitions. The
target epoch is the group epoch for which the target assignment was computed. A member reaches the
target epoch with its next heartbeat. Only replaying records changes a group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ottla.assignors.assignor import NO_PARTITIONS, Assignment
from ottla.coordinator.groups.group import Group, GroupType
from ottla.coordinator.groups.share.group_records import group_tombstones
from ottla.coordinator.groups.share.member import ShareMember
from ottla.coordinator.groups.share.state_partitions import StatePartitions
from ottla.coordinator.offsets.committed_offset import CommittedOffset
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.model import ErrorCode, KafkaError


class ShareGroup(Group):
    """Owned by the coordinator's `Groups`."""

    __slots__ = (
        "coverage",
        "epoch",
        "is_metadata_stale",
        "members",
        "metadata_hash",
        "state_partitions",
        "target_epoch",
        "target_timestamp",
        "targets",
        "topics",
    )

    type = GroupType.SHARE

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.epoch = 0
        self.metadata_hash = 0
        self.members: dict[str, ShareMember] = {}
        # How many members are subscribed to each topic.
        self.topics: Counter[str] = Counter()
        self.target_epoch = 0
        self.target_timestamp = 0
        self.targets: dict[str, Assignment] = {}
        self.state_partitions = StatePartitions()
        # What heartbeats found out about the initialized partitions, and in which state of the
        # group: whether no member has some.
        self.coverage: tuple[object, bool, object] | None = None
        # Whether topics may have changed since the group last checked.
        self.is_metadata_stale = True

    def topics_changed(self) -> None:
        self.is_metadata_stale = True

    @property
    def state_name(self) -> str:
        return "Stable" if self.members else "Empty"

    @property
    def protocol_type(self) -> str:
        return "share"

    @property
    def is_empty(self) -> bool:
        return not self.members

    # ---- members

    def require_member(self, member_id: str) -> ShareMember:
        member = self.members.get(member_id)
        if member is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID,
                f"Member {member_id} is not a member of group {self.id}.",
            )
        return member

    def put_member(self, member: ShareMember) -> None:
        self._forget_topics(member.id)
        self.members[member.id] = member
        self.topics.update(member.topics)

    def remove_member(self, member_id: str) -> None:
        self._forget_topics(member_id)
        self.members.pop(member_id, None)

    def _forget_topics(self, member_id: str) -> None:
        before = self.members.get(member_id)
        for topic in () if before is None else before.topics:
            self.topics[topic] -= 1
            if not self.topics[topic]:
                del self.topics[topic]

    def target_of(self, member_id: str) -> Assignment:
        return self.targets.get(member_id, NO_PARTITIONS)

    # ---- offsets: a share group commits none

    def is_subscribed_to(self, topic: str) -> bool:
        return topic in self.topics

    def require_may_commit(self, **_: object) -> None:
        raise self._not_a_consumer_group()

    def require_may_fetch(self, **_: object) -> None:
        raise self._not_a_consumer_group()

    def require_may_delete_offsets(self) -> None:
        raise self._not_a_consumer_group()

    def _not_a_consumer_group(self) -> KafkaError:
        return KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {self.id} is not a consumer group.")

    def offset_idle_since(self, committed: CommittedOffset) -> int | None:
        return committed.commit_timestamp

    @property
    def expires(self) -> bool:
        return False

    def tombstones(self) -> Sequence[CoordinatorRecord]:
        return group_tombstones(self.id, dict.fromkeys([*self.members, *self.targets]))
