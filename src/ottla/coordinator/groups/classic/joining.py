"""JoinGroup: a member enters a classic group, or takes part in its next generation.

A new dynamic member first gets an id with MEMBER_ID_REQUIRED, and joins again with it (KIP-394). A
returning static member takes its place again, in a stable group without a rebalance (KIP-345).
Errors: INVALID_GROUP_ID, INVALID_SESSION_TIMEOUT, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID,
INCONSISTENT_GROUP_PROTOCOL, GROUP_MAX_SIZE_REACHED.
"""

from __future__ import annotations

from typing import Final

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.group_records import group_record
from ottla.coordinator.groups.classic.member import ClassicMember, protocols_of
from ottla.coordinator.groups.classic.rebalancing import ClassicRebalancing
from ottla.coordinator.groups.classic.responses import (
    answer_join,
    answer_sync,
    join_refused,
    joined,
    sync_refused,
)
from ottla.coordinator.groups.classic.sessions import NEW_MEMBER_TIMEOUT_MS, ClassicSessions
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.coordinator.groups.client import Client
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.group import NO_MEMBER_ID
from ottla.coordinator.runtime.outcome import NOTHING, Outcome
from ottla.coordinator.runtime.waiting_answer import Reply
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.join_group import JoinGroupRequest

_MEMBER_ID_REQUIRED_VERSION: Final = 4
_SKIP_ASSIGNMENT_VERSION: Final = 9


class ClassicJoining:
    """Created with the coordinator of a partition."""

    def __init__(
        self, context: GroupContext, sessions: ClassicSessions, rebalancing: ClassicRebalancing
    ) -> None:
        self._context = context
        self._sessions = sessions
        self._rebalancing = rebalancing

    def join(self, client: Client, request: JoinGroupRequest, reply: Reply) -> Outcome:
        """Returns an outcome with the response, or without one and calls `reply` later."""
        self._check_session_timeout(request)
        group = self._context.groups.get_classic(request.group_id)
        is_new_group = group is None
        if group is None:
            if request.member_id != NO_MEMBER_ID:
                return _refused(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id)
            group = ClassicGroup(request.group_id, now_ms=self._context.now_ms())
            self._context.groups.put(group)
        if not self._has_room_for(group, request.member_id):
            group.remove(request.member_id)
            return _refused(ErrorCode.GROUP_MAX_SIZE_REACHED)
        names = [protocol.name for protocol in request.protocols]
        if not group.supports(request.protocol_type, names):
            outcome = _refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id)
        elif request.member_id == NO_MEMBER_ID:
            outcome = self._join_new(client, request, group, reply)
        else:
            outcome = self._join_known(client, request, group, reply)
        if is_new_group and outcome.is_empty:
            # Stores the new group, so that the next coordinator has it too.
            return Outcome([group_record(group, {})], outcome.response, is_applied=True)
        return outcome

    def _check_session_timeout(self, request: JoinGroupRequest) -> None:
        settings = self._context.settings
        low, high = settings.min_session_timeout_ms, settings.max_session_timeout_ms
        if not low <= request.session_timeout_ms <= high:
            raise KafkaError(
                ErrorCode.INVALID_SESSION_TIMEOUT,
                f"a session timeout of {request.session_timeout_ms} ms is not between {low} "
                f"(group.min.session.timeout.ms) and {high} (group.max.session.timeout.ms)",
            )

    def _has_room_for(self, group: ClassicGroup, member_id: str) -> bool:
        size_max = self._context.settings.max_size
        member = group.members.get(member_id)
        if group.state is ClassicState.PREPARING_REBALANCE:
            is_counted = member is not None and member.awaiting_join is not None
            return is_counted or group.awaiting_join_count < size_max
        if group.state is ClassicState.EMPTY:
            return True
        return member is not None or len(group.members) < size_max

    # ---- members without an id

    def _join_new(
        self, client: Client, request: JoinGroupRequest, group: ClassicGroup, reply: Reply
    ) -> Outcome:
        instance_id = request.group_instance_id
        prefix = client.id if instance_id is None else instance_id
        member_id = f"{prefix}-{self._context.new_id()}"
        if instance_id is not None:
            current_id = group.static_members.get(instance_id)
            if current_id is None:
                return self._add(client, request, group, member_id, reply)
            current = group.members[current_id]
            return self._replace_static(client, request, group, current, member_id, reply)
        if client.version < _MEMBER_ID_REQUIRED_VERSION:
            return self._add(client, request, group, member_id, reply)
        group.pending_members.add(member_id)
        self._sessions.begin(group, member_id, timeout_ms=request.session_timeout_ms)
        return _refused(ErrorCode.MEMBER_ID_REQUIRED, member_id)

    def _add(
        self,
        client: Client,
        request: JoinGroupRequest,
        group: ClassicGroup,
        member_id: str,
        reply: Reply,
    ) -> Outcome:
        member = ClassicMember(
            member_id,
            request.group_instance_id,
            client.id,
            client.host,
            _rebalance_timeout_ms(request),
            request.session_timeout_ms,
            request.protocol_type,
            protocols_of(request.protocols),
            awaiting_join=reply,
            is_new=True,
        )
        group.add(member)
        if (
            group.state is ClassicState.PREPARING_REBALANCE
            and group.previous_state is ClassicState.EMPTY
        ):
            self._rebalancing.delay_initial(group)
        self._sessions.begin(group, member_id, timeout_ms=NEW_MEMBER_TIMEOUT_MS)
        return self._rebalancing.rebalance(group, f"member {member_id} joined")

    def _replace_static(
        self,
        client: Client,
        request: JoinGroupRequest,
        group: ClassicGroup,
        old: ClassicMember,
        member_id: str,
        reply: Reply,
    ) -> Outcome:
        """The static instance was restarted: its previous member id is fenced."""
        leader_before = group.leader
        answer_join(old, join_refused(ErrorCode.FENCED_INSTANCE_ID, old.id))
        answer_sync(old, sync_refused(ErrorCode.FENCED_INSTANCE_ID))
        self._sessions.end(group, old.id)
        member = group.replace_static(old, member_id)
        group.pending_sync.discard(old.id)
        self._sessions.renew(group, member)
        self._update(request, group, member, reply)
        if group.state is ClassicState.COMPLETING_REBALANCE:
            return self._rebalancing.prepare(group, f"static member {member_id} joined again")
        if group.state is not ClassicState.STABLE:
            return self._rebalancing.maybe_complete(group)
        if group.select_protocol() != group.protocol:
            return self._rebalancing.rebalance(
                group, f"member {member_id} joined with other protocols"
            )

        def stored(error: ErrorCode) -> Outcome:
            if error:
                answer_join(member, join_refused(error))
                return NOTHING
            skips = client.version >= _SKIP_ASSIGNMENT_VERSION and group.leader == member_id
            response = joined(
                group,
                member_id,
                shows_members=skips,
                # An old client that learns it is the leader would assign again.
                leader=None if client.version >= _SKIP_ASSIGNMENT_VERSION else leader_before,
                skips_assignment=skips,
            )
            answer_join(member, response)
            return NOTHING

        assignments = {each.id: each.assignment for each in group.members.values()}
        return Outcome([group_record(group, assignments)], is_applied=True, on_committed=stored)

    # ---- members with an id

    def _join_known(
        self, client: Client, request: JoinGroupRequest, group: ClassicGroup, reply: Reply
    ) -> Outcome:
        member_id = request.member_id
        if member_id in group.pending_members:
            if request.group_instance_id is not None:
                # Static members never get an id with MEMBER_ID_REQUIRED.
                return _refused(ErrorCode.UNKNOWN_MEMBER_ID, member_id)
            return self._add(client, request, group, member_id, reply)
        try:
            member = group.require_member(member_id, request.group_instance_id)
        except KafkaError as error:
            return _refused(error.code, member_id)
        if group.state is ClassicState.EMPTY:
            return _refused(ErrorCode.UNKNOWN_MEMBER_ID, member_id)
        is_same = member.protocols == protocols_of(request.protocols)
        is_leader = group.leader == member_id
        if group.state is ClassicState.COMPLETING_REBALANCE and is_same:
            # A retry: it did not receive the response, or it would send SyncGroup now.
            return Outcome(response=joined(group, member_id, shows_members=is_leader))
        if group.state is ClassicState.STABLE and is_same and not is_leader:
            return Outcome(response=joined(group, member_id, shows_members=False))
        # A leader rejoins to trigger a new assignment, for example after a topic has changed.
        self._update(request, group, member, reply)
        return self._rebalancing.rebalance(group, f"member {member_id} joined again")

    def _update(
        self, request: JoinGroupRequest, group: ClassicGroup, member: ClassicMember, reply: Reply
    ) -> None:
        # An earlier JoinGroup that still waits gets no response: its connection is gone.
        group.update(
            member,
            protocols_of(request.protocols),
            rebalance_timeout_ms=_rebalance_timeout_ms(request),
            session_timeout_ms=request.session_timeout_ms,
            awaiting_join=reply,
        )


def _rebalance_timeout_ms(request: JoinGroupRequest) -> int:
    """Version 0 has only the session timeout, used for both."""
    if request.rebalance_timeout_ms < 0:
        return request.session_timeout_ms
    return request.rebalance_timeout_ms


def _refused(error: ErrorCode, member_id: str = NO_MEMBER_ID) -> Outcome:
    return Outcome(response=join_refused(error, member_id))
