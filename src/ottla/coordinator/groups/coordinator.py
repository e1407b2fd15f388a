"""The group coordinator of one partition of `__consumer_offsets`.

It looks up the request's group and passes the request to the code for that type of group: in
`classic/`, in `consumer/` and in `ottla.coordinator.offsets`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.joining import ClassicJoining
from ottla.coordinator.groups.classic.presence import ClassicPresence
from ottla.coordinator.groups.classic.rebalancing import ClassicRebalancing
from ottla.coordinator.groups.classic.sessions import ClassicSessions
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.coordinator.groups.classic.syncing import ClassicSyncing
from ottla.coordinator.groups.classic.unloading import refuse_waiting
from ottla.coordinator.groups.client import Client
from ottla.coordinator.groups.consumer.describing import describe_consumer
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.heartbeats import ConsumerHeartbeats
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.describing import describe_classic, list_groups
from ottla.coordinator.groups.group import NO_MEMBER_ID, GroupType
from ottla.coordinator.groups.replaying import GroupReplay
from ottla.coordinator.groups.share.describing import describe_share
from ottla.coordinator.groups.share.heartbeats import ShareHeartbeats
from ottla.coordinator.groups.share.state_changes import ShareStateChanges
from ottla.coordinator.offsets.committing import commit_offsets, require_may_commit
from ottla.coordinator.offsets.deleting import (
    delete_group_offsets,
    delete_offsets,
    delete_topic_offsets,
)
from ottla.coordinator.offsets.expiry import expire_offsets
from ottla.coordinator.offsets.fetching import OffsetFetch
from ottla.coordinator.offsets.txn_committing import (
    commit_offsets_in_transaction,
    require_may_commit_in_transaction,
)
from ottla.coordinator.runtime.outcome import NOTHING, CoordinatorRecord, Outcome
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.consumer_group_describe import DescribedGroup as DescribedConsumerGroup
from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.delete_groups import DeletableGroupResult
from ottla.wire.messages.describe_groups import DescribedGroup
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest
from ottla.wire.messages.leave_group import MemberIdentity
from ottla.wire.messages.list_groups import ListedGroup
from ottla.wire.messages.offset_commit import OffsetCommitRequest
from ottla.wire.messages.offset_delete import OffsetDeleteRequest
from ottla.wire.messages.offset_fetch import OffsetFetchRequestGroup
from ottla.wire.messages.share_group_describe import DescribedGroup as DescribedShareGroup
from ottla.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from ottla.wire.messages.sync_group import SyncGroupRequest
from ottla.wire.messages.txn_offset_commit import TxnOffsetCommitRequest

# Tombstones are written in limited numbers, because a batch has a maximum size.
_TOMBSTONES_MAX = 1_000


class GroupCoordinator(GroupReplay):
    """The state machine. Owned by its shard."""

    def __init__(self, context: GroupContext) -> None:
        super().__init__(context)
        self._sessions = ClassicSessions(context)
        self._rebalancing = ClassicRebalancing(context, self._sessions)
        self._joining = ClassicJoining(context, self._sessions, self._rebalancing)
        self._syncing = ClassicSyncing(self._rebalancing)
        self._presence = ClassicPresence(self._sessions, self._rebalancing)
        self._heartbeats = ConsumerHeartbeats(context, self._resume_downgraded)
        self._share_heartbeats = ShareHeartbeats(context)
        self.share_states = ShareStateChanges(context)
        self._classic_members = self._heartbeats.classic_members

    # ---- life cycle

    def loaded(self) -> None:
        resumes: dict[GroupType, Callable[[Any], None]] = {
            GroupType.CLASSIC: self._resume_classic,
            GroupType.CONSUMER: self._heartbeats.resume,
            GroupType.SHARE: self._share_heartbeats.resume,
        }
        for group in self.groups:
            resumes[group.type](group)

    def _resume_classic(self, group: ClassicGroup) -> None:
        for member in group.members.values():
            self._sessions.renew(group, member)
        if len(group.members) > self._context.settings.max_size:
            self._rebalancing.prepare(group, "it has more members than group.max.size")

    def _resume_downgraded(self, group: ClassicGroup) -> None:
        for member in group.members.values():
            self._sessions.renew(group, member)
        self._rebalancing.prepare(group, "it has members of the classic protocol only")

    def unloaded(self) -> None:
        for group in self.groups:
            if isinstance(group, ClassicGroup):
                refuse_waiting(group, ErrorCode.NOT_COORDINATOR)

    # ---- members

    def join(self, client: Client, request: JoinGroupRequest, reply: Reply) -> Outcome:
        group = self.groups.get(request.group_id)
        if not isinstance(group, ConsumerGroup):
            return self._joining.join(client, request, reply)
        if not group.is_empty:
            return self._classic_members.join(client, group, request)
        return self._join_emptied(client, group, request, reply)

    def _join_emptied(
        self, client: Client, group: ConsumerGroup, request: JoinGroupRequest, reply: Reply
    ) -> Outcome:
        """Replaces the empty consumer group with a classic group, for its first new member."""
        if request.member_id != NO_MEMBER_ID:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"group {group.id} has no members")
        self.groups.remove(group.id)
        try:
            outcome = self._joining.join(client, request, reply)
        except KafkaError:
            self.groups.put(group)
            raise
        return outcome._replace(records=[*group.tombstones(), *outcome.records], is_applied=True)

    def sync(self, request: SyncGroupRequest, reply: Reply) -> Outcome:
        group = self._require_with_members(request.group_id)
        if isinstance(group, ConsumerGroup):
            return self._classic_members.sync(group, request)
        return self._syncing.sync(group, request, reply)

    def heartbeat(self, request: HeartbeatRequest) -> Outcome:
        group = self._require_with_members(request.group_id)
        if isinstance(group, ConsumerGroup):
            return self._classic_members.heartbeat(group, request)
        return self._presence.heartbeat(group, request)

    def leave(self, group_id: str, members: Sequence[MemberIdentity]) -> Outcome:
        group = self._require_with_members(group_id)
        if isinstance(group, ConsumerGroup):
            return self._classic_members.leave(group, members)
        return self._presence.leave(group, members)

    def consumer_heartbeat(self, client: Client, request: ConsumerGroupHeartbeatRequest) -> Outcome:
        return self._heartbeats.heartbeat(client, request)

    def share_heartbeat(self, client: Client, request: ShareGroupHeartbeatRequest) -> Outcome:
        """The outcome's response is a `ShareHeartbeat`."""
        return self._share_heartbeats.heartbeat(client, request)

    def topics_changed(self) -> Outcome:
        """Marks the groups' metadata as stale. Each group checks its topics again at the
        next heartbeat of a member."""
        self._context.regexes.topics_changed()
        for group in self.groups:
            group.topics_changed()
        return NOTHING

    def _require_with_members(self, group_id: str) -> ClassicGroup | ConsumerGroup:
        group = self.groups.get(group_id)
        if isinstance(group, ClassicGroup | ConsumerGroup):
            return group
        # The client believes that it is a member; this error makes it join again.
        raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Group {group_id} not found.")

    # ---- offsets

    def commit(self, request: OffsetCommitRequest, *, version: int) -> Outcome:
        group = require_may_commit(self.groups, request, version=version)
        if isinstance(group, ClassicGroup):
            self._keep_session(group, request.member_id)
        return commit_offsets(request, self._context.settings, now_ms=self._context.now_ms())

    def commit_in_transaction(self, request: TxnOffsetCommitRequest) -> Outcome:
        require_may_commit_in_transaction(self.groups, request)
        return commit_offsets_in_transaction(
            request, self._context.settings, now_ms=self._context.now_ms()
        )

    def _keep_session(self, group: ClassicGroup, member_id: str) -> None:
        """A commit renews the session like a heartbeat."""
        member = group.members.get(member_id)
        if member is not None and group.state in (
            ClassicState.STABLE,
            ClassicState.PREPARING_REBALANCE,
        ):
            self._sessions.renew(group, member)

    def fetch(self, requested: OffsetFetchRequestGroup, *, require_stable: bool) -> Outcome:
        fetch = OffsetFetch(self.groups, self.offsets, requested, require_stable=require_stable)
        return Outcome(response=fetch.answer())

    def delete_offsets(self, request: OffsetDeleteRequest) -> Outcome:
        return delete_offsets(self.groups, self.offsets, request)

    def topics_deleted(self, topics: Sequence[str]) -> Outcome:
        tombstones = delete_topic_offsets(self.offsets, topics)
        return _a_few(tombstones, then=lambda: self.topics_deleted(topics))

    def expire(self, group_id: str) -> Outcome:
        """Removes a group's expired offsets, and the group if it is empty and has none left."""
        group = self.groups.get(group_id)
        if group is None:
            return NOTHING
        now_ms = self._context.now_ms()
        records, has_none = expire_offsets(
            group, self.offsets, self._context.settings, now_ms=now_ms
        )
        if has_none and group.is_empty and group.expires:
            records += group.tombstones()
        return _a_few(records, then=lambda: self.expire(group_id))

    # ---- groups

    def list_groups(self, *, states: Sequence[str], types: Sequence[str]) -> list[ListedGroup]:
        return list_groups(self.groups, states=states, types=types)

    def describe_classic(self, group_id: str, *, version: int) -> DescribedGroup:
        return describe_classic(self.groups, group_id, version=version)

    def describe_consumer(self, group_id: str) -> DescribedConsumerGroup:
        return describe_consumer(self._context, group_id)

    def describe_share(self, group_id: str) -> DescribedShareGroup:
        return describe_share(self._context, group_id)

    def delete_group(self, group_id: str) -> Outcome:
        group = self.groups.require(group_id)
        group.require_may_delete()
        return Outcome(
            [*delete_group_offsets(self.offsets, group_id), *group.tombstones()],
            DeletableGroupResult(group_id=group_id),
        )


def _a_few(records: list[CoordinatorRecord], *, then: Callable[[], Outcome]) -> Outcome:
    """The first records, up to a limit; `then` continues when they are committed."""
    if len(records) <= _TOMBSTONES_MAX:
        return Outcome(records)
    return Outcome(
        records[:_TOMBSTONES_MAX], on_committed=lambda error: NOTHING if error else then()
    )
