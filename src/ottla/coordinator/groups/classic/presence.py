"""Heartbeat and LeaveGroup of classic groups."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.coordinator.groups.classic.group import ClassicGroup, illegal_generation
from ottla.coordinator.groups.classic.rebalancing import ClassicRebalancing
from ottla.coordinator.groups.classic.sessions import ClassicSessions
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.coordinator.groups.group import NO_MEMBER_ID
from ottla.coordinator.runtime.outcome import NOTHING, Outcome
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.leave_group import LeaveGroupResponse, MemberIdentity, MemberResponse


class ClassicPresence:
    """Handles heartbeats and leaving members. Created with the coordinator."""

    def __init__(self, sessions: ClassicSessions, rebalancing: ClassicRebalancing) -> None:
        self._sessions = sessions
        self._rebalancing = rebalancing

    def heartbeat(self, group: ClassicGroup, request: HeartbeatRequest) -> Outcome:
        member = group.require_member(request.member_id, request.group_instance_id)
        if request.generation_id != group.generation:
            raise illegal_generation(group, request.generation_id)
        self._sessions.renew(group, member)
        is_over = group.state is ClassicState.PREPARING_REBALANCE
        error = ErrorCode.REBALANCE_IN_PROGRESS if is_over else ErrorCode.NONE
        return Outcome(response=HeartbeatResponse(error_code=error))

    def leave(self, group: ClassicGroup, members: Sequence[MemberIdentity]) -> Outcome:
        answers = [self._leave(group, identity) for identity in members]
        left = [answer.member_id for answer in answers if not answer.error_code]
        outcome = NOTHING
        if left:
            outcome = self._rebalancing.after_removal(group, f"{left} left")
        return Outcome(
            outcome.records,
            LeaveGroupResponse(members=answers),
            is_applied=outcome.is_applied,
            on_committed=outcome.on_committed,
        )

    def _leave(self, group: ClassicGroup, identity: MemberIdentity) -> MemberResponse:
        answer = MemberResponse(
            member_id=identity.member_id, group_instance_id=identity.group_instance_id
        )
        member_id = identity.member_id
        if member_id == NO_MEMBER_ID and identity.group_instance_id is not None:
            # An admin client sends only the instance id.
            member_id = group.static_members.get(identity.group_instance_id, NO_MEMBER_ID)
        if member_id in group.pending_members:
            group.remove(member_id)
            self._sessions.end(group, member_id)
            return answer
        try:
            member = group.require_member(member_id, identity.group_instance_id)
        except KafkaError as error:
            answer.error_code = error.code
        else:
            self._rebalancing.remove(group, member)
        return answer
