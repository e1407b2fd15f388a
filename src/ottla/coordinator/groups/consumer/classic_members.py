"""Members of the classic protocol in a group of the consumer protocol, until they are upgraded.

To them it looks like a classic group. Their generation is their member epoch. They get
REBALANCE_IN_PROGRESS whenever they have to revoke partitions or can get new ones. No member is the
leader; the coordinator assigns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ottla.coordinator.groups.classic.group import CONSUMER_PROTOCOL_TYPE
from ottla.coordinator.groups.classic.responses import join_refused
from ottla.coordinator.groups.client import Client
from ottla.coordinator.groups.consumer.advancing import advance, stale_again
from ottla.coordinator.groups.consumer.changing import GroupChange
from ottla.coordinator.groups.consumer.embedded_protocol import (
    read_subscription,
    read_version,
    with_ids,
    write_assignment,
)
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.member import ConsumerMember, MemberState, member_before
from ottla.coordinator.groups.consumer.sessions import ConsumerSessions, Fence
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.group import NO_MEMBER_ID
from ottla.coordinator.runtime.outcome import CoordinatorRecord, Outcome
from ottla.model import ErrorCode, KafkaError
from ottla.wire.errors import ProtocolError
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ottla.wire.messages.leave_group import LeaveGroupResponse, MemberIdentity, MemberResponse
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ottla.wire.stored.consumer_groups import ClassicMemberMetadata, ClassicProtocol

_MEMBER_ID_REQUIRED_VERSION: Final = 4


class ClassicMembers:
    """Created with the coordinator of a partition."""

    def __init__(self, context: GroupContext, sessions: ConsumerSessions, fence: Fence) -> None:
        self._context = context
        self._sessions = sessions
        self._fence = fence

    def join(self, client: Client, group: ConsumerGroup, request: JoinGroupRequest) -> Outcome:
        self._check_protocols(group, request)
        member_id = request.member_id or self._context.new_id()
        is_static = request.group_instance_id is not None
        if (
            request.member_id == NO_MEMBER_ID
            and not is_static
            and client.version >= _MEMBER_ID_REQUIRED_VERSION
        ):
            return Outcome(response=join_refused(ErrorCode.MEMBER_ID_REQUIRED, member_id))
        known = self._known(group, request)
        if known is None and len(group.members) >= self._context.settings.consumer_max_size:
            return Outcome(response=join_refused(ErrorCode.GROUP_MAX_SIZE_REACHED))
        before = member_before(known, member_id)
        try:
            subscription = read_subscription(request.protocols[0].metadata)
        except ProtocolError as error:
            raise KafkaError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)) from error
        updated = _updated(before, client, request, frozenset(subscription.topics))
        change = GroupChange(self._context, group, describable=client.describable)
        was_stale = group.is_metadata_stale
        current = advance(
            group,
            change,
            self._sessions,
            known=known,
            before=before,
            updated=updated,
            owned=with_ids(subscription.owned_partitions, self._context.image),
        )
        self._sessions.has_joined(group.id, current)
        response = JoinGroupResponse(
            generation_id=current.epoch,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocol_name=request.protocols[0].name,
            member_id=member_id,
        )
        return Outcome(
            change.records, response, on_committed=stale_again(group) if was_stale else None
        )

    def sync(self, group: ConsumerGroup, request: SyncGroupRequest) -> Outcome:
        member, classic = self._require(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
        self._check_settled(group, member)
        self._sessions.has_synced(group.id, member)
        version = read_version(classic.supported_protocols[0].metadata)
        return Outcome(
            response=SyncGroupResponse(
                protocol_type=request.protocol_type,
                protocol_name=request.protocol_name,
                assignment=write_assignment(member.assigned, self._context.image, version=version),
            )
        )

    def heartbeat(self, group: ConsumerGroup, request: HeartbeatRequest) -> Outcome:
        member, classic = self._require(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
        self._sessions.renew(group.id, member.id, timeout_ms=classic.session_timeout_ms)
        error = ErrorCode.NONE
        if self._has_to_join(group, member):
            error = ErrorCode.REBALANCE_IN_PROGRESS
            self._sessions.has_to_join(group.id, member)
        return Outcome(response=HeartbeatResponse(error_code=error))

    def leave(self, group: ConsumerGroup, members: Sequence[MemberIdentity]) -> Outcome:
        answers, records = [], list[CoordinatorRecord]()
        is_applied = False
        for identity in members:
            answer = MemberResponse(
                member_id=identity.member_id, group_instance_id=identity.group_instance_id
            )
            answers.append(answer)
            member_id = identity.member_id
            if member_id == NO_MEMBER_ID and identity.group_instance_id is not None:
                member_id = group.static_members.get(identity.group_instance_id, NO_MEMBER_ID)
            try:
                member, _ = self._require(group, member_id, identity.group_instance_id)
            except KafkaError as error:
                answer.error_code = error.code
                continue
            outcome = self._fence(group, member, "left")
            records += outcome.records
            is_applied |= outcome.is_applied
        return Outcome(records, LeaveGroupResponse(members=answers), is_applied=is_applied)

    # ---- checks

    def _check_protocols(self, group: ConsumerGroup, request: JoinGroupRequest) -> None:
        counts = group.counts
        is_common = any(
            counts.protocols[protocol.name] == counts.classic for protocol in request.protocols
        )
        if request.protocol_type != CONSUMER_PROTOCOL_TYPE or not is_common:
            raise KafkaError(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                f"the members of group {group.id} do not have these protocols",
            )

    def _known(self, group: ConsumerGroup, request: JoinGroupRequest) -> ConsumerMember | None:
        instance_id = request.group_instance_id
        if instance_id is None:
            return group.members.get(request.member_id)
        if request.member_id == NO_MEMBER_ID:
            return group.static_member(instance_id)
        return group.require_static_member(instance_id, request.member_id)

    def _require(
        self, group: ConsumerGroup, member_id: str, instance_id: str | None
    ) -> tuple[ConsumerMember, ClassicMemberMetadata]:
        if instance_id is None:
            member = group.require_member(member_id)
        else:
            member = group.require_static_member(instance_id, member_id)
        if member.classic is None:
            raise KafkaError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"member {member_id} uses the consumer protocol"
            )
        return member, member.classic

    def _has_to_join(self, group: ConsumerGroup, member: ConsumerMember) -> bool:
        """Whether there is a newer epoch, a partition to revoke, or all missing partitions of its
        target have become free."""
        if member.epoch < group.next_epoch or member.state is MemberState.UNREVOKED_PARTITIONS:
            return True
        missing = group.target_of(member.id) - member.assigned
        return member.state is MemberState.UNRELEASED_PARTITIONS and all(
            group.owner_of(partition) in (None, member.id) for partition in missing
        )

    def _check_settled(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        is_behind = member.epoch < group.next_epoch
        if is_behind and member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._sessions.has_to_join(group.id, member)
            raise KafkaError(
                ErrorCode.REBALANCE_IN_PROGRESS, f"group {group.id} rebalances; join again"
            )


def _updated(
    before: ConsumerMember, client: Client, request: JoinGroupRequest, topics: frozenset[str]
) -> ConsumerMember:
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        before,
        instance_id=request.group_instance_id,
        client_id=client.id,
        client_host=client.host,
        rebalance_timeout_ms=request.session_timeout_ms if timeout_ms < 0 else timeout_ms,
        topics=topics,
        regex=None,
        assignor=None,
        classic=ClassicMemberMetadata(
            session_timeout_ms=request.session_timeout_ms,
            supported_protocols=[
                ClassicProtocol(name=each.name, metadata=each.metadata)
                for each in request.protocols
            ],
        ),
    )


def _check_generation(member: ConsumerMember, generation: int) -> None:
    if generation != member.epoch:
        raise KafkaError(
            ErrorCode.ILLEGAL_GENERATION,
            f"member {member.id} has epoch {member.epoch}, not {generation}; join again",
        )
