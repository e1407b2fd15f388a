"""ConsumerGroupHeartbeat: a member joins, stays, gets partitions and leaves.

A member joins with epoch 0 and sends all its fields. Later heartbeats contain its subscription and
its owned partitions only when they have changed. Errors: INVALID_REQUEST, GROUP_ID_NOT_FOUND,
UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID,
UNSUPPORTED_ASSIGNOR, INVALID_REGULAR_EXPRESSION, GROUP_MAX_SIZE_REACHED.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from ottla.assignors.assignor import (
    NO_PARTITIONS,
    Assignment,
    TopicIdPartition,
    by_topic,
)
from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.group_records import group_record as classic_group_record
from ottla.coordinator.groups.classic.unloading import refuse_waiting
from ottla.coordinator.groups.client import Client
from ottla.coordinator.groups.consumer.advancing import advance, stale_again
from ottla.coordinator.groups.consumer.changing import GroupChange
from ottla.coordinator.groups.consumer.classic_members import ClassicMembers
from ottla.coordinator.groups.consumer.configs import group_configs
from ottla.coordinator.groups.consumer.conversion import (
    can_downgrade,
    can_upgrade,
    downgraded,
    upgrade_records,
    upgraded,
)
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.group_records import current_assignment_record
from ottla.coordinator.groups.consumer.heartbeat_interval import heartbeat_interval_ms
from ottla.coordinator.groups.consumer.member import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerMember,
    member_before,
)
from ottla.coordinator.groups.consumer.sessions import ConsumerSessions
from ottla.coordinator.groups.consumer.validation import check_heartbeat
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.runtime.outcome import CoordinatorRecord, Outcome
from ottla.model import ErrorCode, KafkaError, uuid_to_text
from ottla.wire.errors import ProtocolError
from ottla.wire.messages import consumer_group_heartbeat as wire

_log = logging.getLogger(__name__)


class ConsumerHeartbeats:
    """Created with the coordinator of a partition."""

    def __init__(
        self, context: GroupContext, resume_classic: Callable[[ClassicGroup], None]
    ) -> None:
        """`resume_classic` starts a rebalance of a group that was downgraded to classic."""
        self._context = context
        self._resume_classic = resume_classic
        self._sessions = ConsumerSessions(context, self._fence)
        self.classic_members = ClassicMembers(context, self._sessions, self._fence)

    def resume(self, group: ConsumerGroup) -> None:
        """Starts the session timers of a group that was loaded or upgraded."""
        timeout_ms = group_configs(self._context, group.id).session_timeout_ms
        for member in group.members.values():
            classic = member.classic
            self._sessions.renew(
                group.id,
                member.id,
                timeout_ms=timeout_ms if classic is None else classic.session_timeout_ms,
            )
            self._sessions.follow(group.id, member)

    def heartbeat(self, client: Client, request: wire.ConsumerGroupHeartbeatRequest) -> Outcome:
        assignors = self._context.settings.consumer_assignors
        check_heartbeat(request, version=client.version, assignors=assignors)
        if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
            return self._leave(request)
        return self._stay(client, request)

    # ---- joining and staying

    def _stay(self, client: Client, request: wire.ConsumerGroupHeartbeatRequest) -> Outcome:
        group, records = self._group_for(request)
        change = GroupChange(self._context, group, describable=client.describable)
        change.records += records
        known = self._known_member(group, request)
        if known is None:
            self._require_room(group)
        # In version 0 the coordinator generates the member id.
        member_id = request.member_id or uuid_to_text(self._context.dice.uuid())
        before = member_before(known, member_id)
        was_stale = group.is_metadata_stale
        owned = _owned(request)
        current = advance(
            group,
            change,
            self._sessions,
            known=known,
            before=before,
            updated=_updated(before, client, request),
            owned=owned,
        )
        configs = group_configs(self._context, group.id)
        self._sessions.renew(group.id, member_id, timeout_ms=configs.session_timeout_ms)
        response = wire.ConsumerGroupHeartbeatResponse(
            member_id=member_id,
            member_epoch=current.epoch,
            heartbeat_interval_ms=heartbeat_interval_ms(
                group,
                change,
                usual_ms=configs.heartbeat_interval_ms,
                now_ms=self._context.now_ms(),
            ),
        )
        # A member that sends a different assignment may have missed the last response.
        is_unchanged = known is not None and current.assigned == known.assigned
        if _is_full(request) or not is_unchanged or owned not in (None, current.assigned):
            response.assignment = _assignment(current.assigned)
        return Outcome(
            change.records, response, on_committed=stale_again(group) if was_stale else None
        )

    # ---- finding the group and the member

    def _group_for(
        self, request: wire.ConsumerGroupHeartbeatRequest
    ) -> tuple[ConsumerGroup, list[CoordinatorRecord]]:
        """The group, with the records that first remove or convert an existing group of another
        type. A joining member creates the group if needed."""
        group = self._context.groups.get(request.group_id)
        if isinstance(group, ConsumerGroup):
            return group, []
        if request.member_epoch == 0:
            if group is None:
                return ConsumerGroup(request.group_id), []
            if group.is_empty:
                return ConsumerGroup(request.group_id), list(group.tombstones())
            if isinstance(group, ClassicGroup) and can_upgrade(self._context, group):
                return self._upgrade(group)
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"Group {request.group_id} not found."
            if group is None
            else f"Group {request.group_id} is not a consumer group.",
        )

    def _upgrade(self, classic: ClassicGroup) -> tuple[ConsumerGroup, list[CoordinatorRecord]]:
        try:
            group = upgraded(self._context, classic)
        except ProtocolError as error:
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND,
                f"Group {classic.id} cannot become a consumer group: {error}",
            ) from error
        # Waiting members get an error, and rejoin the new group.
        refuse_waiting(classic, ErrorCode.REBALANCE_IN_PROGRESS)
        self.resume(group)
        return group, upgrade_records(classic, group, now_ms=self._context.now_ms())

    def _known_member(
        self, group: ConsumerGroup, request: wire.ConsumerGroupHeartbeatRequest
    ) -> ConsumerMember | None:
        """The existing member, or the static member that this one replaces; None for a new one."""
        if request.instance_id is not None:
            return self._known_static(group, request, request.instance_id)
        if request.member_epoch == 0:
            return group.members.get(request.member_id)
        member = group.require_member(request.member_id)
        _check_epoch(member, request)
        return member

    def _known_static(
        self, group: ConsumerGroup, request: wire.ConsumerGroupHeartbeatRequest, instance_id: str
    ) -> ConsumerMember | None:
        member = group.static_member(instance_id)
        if request.member_epoch == 0:
            if member is not None and member.epoch >= 0 and member.id != request.member_id:
                raise KafkaError(
                    ErrorCode.UNRELEASED_INSTANCE_ID,
                    f"instance {instance_id} is member {member.id}, which has not left",
                )
            return member
        member = group.require_static_member(instance_id, request.member_id)
        _check_epoch(member, request)
        return member

    def _require_room(self, group: ConsumerGroup) -> None:
        size_max = self._context.settings.consumer_max_size
        if len(group.members) >= size_max:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"group {group.id} is full: it has {size_max} members (group.consumer.max.size)",
            )

    # ---- leaving and fencing

    def _leave(self, request: wire.ConsumerGroupHeartbeatRequest) -> Outcome:
        group = self._context.groups.get(request.group_id)
        if not isinstance(group, ConsumerGroup):
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
        response = wire.ConsumerGroupHeartbeatResponse(
            member_id=request.member_id, member_epoch=request.member_epoch
        )
        if request.instance_id is None:
            member = group.require_member(request.member_id)
        else:
            member = group.require_static_member(request.instance_id, request.member_id)
        if request.member_epoch == STATIC_LEAVE_EPOCH:
            # A static member is expected to return: it keeps its partitions until its session
            # expires.
            gone = replace(member, epoch=STATIC_LEAVE_EPOCH, pending_revocation=NO_PARTITIONS)
            return Outcome([current_assignment_record(group.id, gone)], response)
        return self._fence(group, member, "left")._replace(response=response)

    def _fence(self, group: ConsumerGroup, member: ConsumerMember, reason: str) -> Outcome:
        _log.info("group %s: member %s %s", group.id, member.id, reason)
        self._sessions.end(group.id, member.id)
        if can_downgrade(self._context, group, member):
            return self._downgrade(group, member)
        change = GroupChange(self._context, group)
        change.remove(member.id)
        change.settle(has_changed=True)
        return Outcome(change.records)

    def _downgrade(self, group: ConsumerGroup, leaving: ConsumerMember) -> Outcome:
        """Removes the last member of the consumer protocol, and converts the group to classic."""
        classic = downgraded(self._context, group, leaving)
        for member_id in group.members:
            self._sessions.end(group.id, member_id)
        assignments = {member.id: member.assignment for member in classic.members.values()}
        records = [*group.tombstones(), classic_group_record(classic, assignments)]
        self._context.groups.put(classic)
        self._resume_classic(classic)
        return Outcome(records, is_applied=True)


def _updated(
    member: ConsumerMember, client: Client, request: wire.ConsumerGroupHeartbeatRequest
) -> ConsumerMember:
    """The member with the request's fields; fields that are not set stay unchanged."""
    regex = request.subscribed_topic_regex
    names = request.subscribed_topic_names
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=request.rack_id or member.rack_id,
        client_id=client.id,
        client_host=client.host,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms < 0 else timeout_ms,
        topics=member.topics if names is None else frozenset(names),
        # An empty expression removes the current one.
        regex=member.regex if regex is None else (regex or None),
        assignor=request.server_assignor or member.assignor,
        classic=None,
    )


def _check_epoch(member: ConsumerMember, request: wire.ConsumerGroupHeartbeatRequest) -> None:
    epoch = request.member_epoch
    if epoch == member.epoch:
        return
    owned = _owned(request)
    # The response with its new epoch may have been lost.
    has_missed = epoch == member.previous_epoch and owned is not None and owned <= member.assigned
    if epoch > member.epoch or not has_missed:
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"member {member.id} has epoch {member.epoch} but sent {epoch}; it must revoke all "
            "its partitions and join again",
        )


def _owned(request: wire.ConsumerGroupHeartbeatRequest) -> Assignment | None:
    if request.topic_partitions is None:
        return None
    return frozenset(
        TopicIdPartition(topic.topic_id, number)
        for topic in request.topic_partitions
        for number in topic.partitions
    )


def _is_full(request: wire.ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the request has all fields, as after a join or an error. The response then contains
    the assignment."""
    return request.member_epoch == 0 or (
        (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.rebalance_timeout_ms != -1
        and request.topic_partitions is not None
    )


def _assignment(assigned: Assignment) -> wire.Assignment:
    return wire.Assignment(
        topic_partitions=[
            wire.TopicPartitions(topic_id=topic_id, partitions=numbers)
            for topic_id, numbers in by_topic(assigned).items()
        ]
    )
