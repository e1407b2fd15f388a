"""Responses to members of classic groups."""

from __future__ import annotations

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.member import ClassicMember
from ottla.coordinator.groups.group import NO_MEMBER_ID
from ottla.model import ErrorCode
from ottla.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from ottla.wire.messages.sync_group import SyncGroupResponse


def joined(
    group: ClassicGroup,
    member_id: str,
    *,
    shows_members: bool,
    leader: str | None = None,
    skips_assignment: bool = False,
) -> JoinGroupResponse:
    """The JoinGroup response for the current generation. Only the leader gets the members."""
    protocol = group.protocol or ""
    members = [
        JoinGroupResponseMember(
            member_id=each.id,
            group_instance_id=each.instance_id,
            metadata=each.metadata_for(protocol),
        )
        for each in (group.members.values() if shows_members else ())
    ]
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type or None,
        protocol_name=group.protocol,
        leader=leader or group.leader or "",
        skip_assignment=skips_assignment,
        member_id=member_id,
        members=members,
    )


def join_refused(error: ErrorCode, member_id: str = NO_MEMBER_ID) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=error, member_id=member_id)


def synced(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type or None,
        protocol_name=group.protocol,
        assignment=member.assignment,
    )


def sync_refused(error: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error)


def answer_join(member: ClassicMember, response: JoinGroupResponse) -> bool:
    """Answers the member's waiting JoinGroup. False if none waits."""
    reply, member.awaiting_join = member.awaiting_join, None
    if reply is not None:
        reply(response)
    return reply is not None


def answer_sync(member: ClassicMember, response: SyncGroupResponse) -> bool:
    reply, member.awaiting_sync = member.awaiting_sync, None
    if reply is not None:
        reply(response)
    return reply is not None
