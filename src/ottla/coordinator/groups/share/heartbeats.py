"""ShareGroupHeartbeat: a member joins, stays, gets partitions and leaves.

Errors: INVALID_REQUEST, GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH,
GROUP_MAX_SIZE_REACHED.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Final, NamedTuple

from ottla.assignors.assignor import (
    NO_PARTITIONS,
    Assignment,
    Subscriber,
    TopicIdPartition,
    by_topic,
)
from ottla.assignors.simple_assignor import assign_shared
from ottla.coordinator.groups.client import Client
from ottla.coordinator.groups.consumer.subscriptions import topics_hash
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.share.configs import member_configs
from ottla.coordinator.groups.share.group import ShareGroup
from ottla.coordinator.groups.share.group_records import (
    current_assignment_record,
    group_record,
    member_record,
    member_tombstones,
    target_epoch_record,
    target_record,
)
from ottla.coordinator.groups.share.member import LEAVE_EPOCH, ShareMember
from ottla.coordinator.groups.share.state_partitions import StateTopic, Topics
from ottla.coordinator.runtime.outcome import NOTHING, CoordinatorRecord, Outcome
from ottla.model import ErrorCode, KafkaError, Uuid
from ottla.wire.messages import share_group_heartbeat as wire

_log = logging.getLogger(__name__)

SIMPLE_ASSIGNOR: Final = "simple"
# While members wait for their first partitions.
_SOON_MS: Final = 500


class ShareHeartbeat(NamedTuple):
    """The response, and the partitions whose state has to be initialized first, with the epoch of
    that state."""

    response: wire.ShareGroupHeartbeatResponse
    uninitialized: Topics
    state_epoch: int = 0


class ShareHeartbeats:
    """Created with the coordinator of a partition."""

    def __init__(self, context: GroupContext) -> None:
        self._context = context

    def resume(self, group: ShareGroup) -> None:
        """Starts the session timers of a group that was loaded. Initializations that were not
        finished are started again by the next heartbeat."""
        group.state_partitions = group.state_partitions.with_retries()
        for member_id in group.members:
            self._renew(group.id, member_id)

    def heartbeat(self, client: Client, request: wire.ShareGroupHeartbeatRequest) -> Outcome:
        """The outcome's response is a `ShareHeartbeat`."""
        _check(request)
        if request.member_epoch == LEAVE_EPOCH:
            return self._leave(request)
        group, records = self._group_for(request)
        known = group.members.get(request.member_id)
        if known is None:
            self._require_room(group)
            if request.member_epoch:
                group.require_member(request.member_id)
            known = ShareMember(request.member_id)
        _check_epoch(known, request)
        updated = _updated(known, client, request)
        current, epoch = self._advance(group, known, updated, records)
        self._renew(group.id, current.id)
        configs = member_configs(self._context, group.id)
        is_waiting = not current.assigned or epoch > current.epoch
        response = wire.ShareGroupHeartbeatResponse(
            member_id=current.id,
            member_epoch=current.epoch,
            heartbeat_interval_ms=min(_SOON_MS, configs.heartbeat_interval_ms)
            if is_waiting
            else configs.heartbeat_interval_ms,
        )
        is_full = request.member_epoch == 0 or request.subscribed_topic_names is not None
        if is_full or current.assigned != known.assigned:
            response.assignment = _assignment(current.assigned)
        missing = self._uninitialized(group, known, updated)
        if missing:
            initializing = group.state_partitions.with_initializing(missing)
            records.append(initializing.record(group.id))
        return Outcome(records, ShareHeartbeat(response, missing, epoch))

    # ---- finding the group and the member

    def _group_for(
        self, request: wire.ShareGroupHeartbeatRequest
    ) -> tuple[ShareGroup, list[CoordinatorRecord]]:
        """The group, with the records that first remove an empty group of another type. A joining
        member creates the group if needed."""
        group = self._context.groups.get(request.group_id)
        if isinstance(group, ShareGroup):
            return group, []
        if request.member_epoch == 0:
            if group is None:
                return ShareGroup(request.group_id), []
            if group.is_empty and not self._context.offsets.of_group(group.id):
                return ShareGroup(request.group_id), list(group.tombstones())
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"Share group {request.group_id} not found."
            if group is None
            else f"Group {request.group_id} is not a share group.",
        )

    def _require_room(self, group: ShareGroup) -> None:
        size_max = self._context.settings.share_max_size
        if len(group.members) >= size_max:
            raise KafkaError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The share group has reached its maximum capacity of {size_max} members "
                "(group.share.max.size).",
            )

    # ---- assignment

    def _advance(
        self,
        group: ShareGroup,
        known: ShareMember,
        updated: ShareMember,
        records: list[CoordinatorRecord],
    ) -> tuple[ShareMember, int]:
        """Appends the records of the change; returns the member after it and the group epoch."""
        is_new = updated.id not in group.members
        if updated != known or is_new:
            records.append(member_record(group.id, updated))
        epoch, has_changed = group.epoch, updated.topics != known.topics or is_new
        has_changed |= group.target_epoch >= epoch and self._has_unassigned(group)
        if has_changed or group.is_metadata_stale:
            metadata_hash = self._metadata_hash(_topics_after(group, known, updated))
            group.is_metadata_stale = False
            if has_changed or metadata_hash != group.metadata_hash:
                epoch += 1
                records.append(group_record(group.id, epoch=epoch, metadata_hash=metadata_hash))
        targets, target_epoch = group.targets, group.target_epoch
        if epoch > target_epoch and self._may_assign(group):
            targets = self._assign(group, updated)
            target_epoch = epoch
            records += [
                target_record(group.id, member_id, target)
                for member_id, target in targets.items()
                if group.targets.get(member_id) != target
            ]
            now_ms = self._context.now_ms()
            records.append(target_epoch_record(group.id, epoch, now_ms=now_ms))
        target = targets.get(updated.id, NO_PARTITIONS)
        if updated.epoch == target_epoch and updated.assigned == target:
            return updated, epoch
        current = replace(
            updated, epoch=target_epoch, previous_epoch=updated.epoch, assigned=target
        )
        records.append(current_assignment_record(group.id, current))
        return current, epoch

    def _may_assign(self, group: ShareGroup) -> bool:
        """Not too often; but the first partitions are assigned at once."""
        if not any(group.targets.values()):
            return True
        interval_ms = member_configs(self._context, group.id).assignment_interval_ms
        age_ms = self._context.now_ms() - group.target_timestamp
        return not 0 <= age_ms < interval_ms

    def _assign(self, group: ShareGroup, updated: ShareMember) -> dict[str, Assignment]:
        known = self._context.image.topics.by_name
        members = {**group.members, updated.id: updated}
        subscribers = {
            member_id: Subscriber(
                frozenset(known[name].id for name in member.topics if name in known),
                group.target_of(member_id),
            )
            for member_id, member in members.items()
        }
        return assign_shared(subscribers, self._assignable(group))

    def _assignable(self, group: ShareGroup) -> dict[Uuid, frozenset[int]]:
        by_id = self._context.image.topics.by_id
        return {
            topic_id: frozenset(topic.partitions & by_id[topic_id].partitions.keys())
            for topic_id, topic in group.state_partitions.initialized.items()
            if topic_id in by_id
        }

    def _has_unassigned(self, group: ShareGroup) -> bool:
        """Whether partitions were initialized that no member has yet. Looks at all targets only
        if something has changed: thousands of members send heartbeats."""
        if not group.members:
            return False
        state = (
            group.epoch,
            group.target_epoch,
            id(group.state_partitions),
            id(self._context.image.topics),
        )
        if group.coverage is None or group.coverage[0] != state:
            # The objects are kept, so that no others can have their identities.
            kept = group.state_partitions, self._context.image.topics
            group.coverage = state, self._find_unassigned(group), kept
        return group.coverage[1]

    def _find_unassigned(self, group: ShareGroup) -> bool:
        assigned = NO_PARTITIONS.union(*group.targets.values())
        by_id = self._context.image.topics.by_id
        return any(
            TopicIdPartition(topic_id, number) not in assigned
            for topic_id, partitions in self._assignable(group).items()
            if by_id[topic_id].name in group.topics
            for number in partitions
        )

    def _metadata_hash(self, topics: set[str]) -> int:
        known = self._context.image.topics.by_name
        return topics_hash(known[name] for name in topics if name in known)

    def _uninitialized(self, group: ShareGroup, known: ShareMember, updated: ShareMember) -> Topics:
        """The partitions of the subscribed topics whose state must be initialized."""
        context = self._context
        now_ms, retry_ms = context.now_ms(), context.settings.share_initialize_retry_ms
        missing: Topics = {}
        for name in sorted(_topics_after(group, known, updated)):
            topic = context.image.topics.by_name.get(name)
            if topic is None:
                continue
            done = group.state_partitions.known(topic.id, now_ms=now_ms, retry_ms=retry_ms)
            left = frozenset(topic.partitions.keys() - done)
            if left:
                missing[topic.id] = StateTopic(name, left, now_ms)
        return missing

    # ---- leaving and fencing

    def _leave(self, request: wire.ShareGroupHeartbeatRequest) -> Outcome:
        group = self._context.groups.get(request.group_id)
        if not isinstance(group, ShareGroup):
            raise KafkaError(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {request.group_id} not found."
            )
        member = group.require_member(request.member_id)
        response = wire.ShareGroupHeartbeatResponse(
            member_id=member.id, member_epoch=request.member_epoch
        )
        outcome = self._fence(group, member, "left")
        return outcome._replace(response=ShareHeartbeat(response, {}))

    def _fence(self, group: ShareGroup, member: ShareMember, reason: str) -> Outcome:
        _log.info("share group %s: member %s %s", group.id, member.id, reason)
        self._context.timers.cancel(("share session", group.id, member.id))
        topics = {name for name, count in group.topics.items() if count > (name in member.topics)}
        return Outcome(
            [
                *member_tombstones(group.id, member.id),
                group_record(
                    group.id, epoch=group.epoch + 1, metadata_hash=self._metadata_hash(topics)
                ),
            ]
        )

    def _renew(self, group_id: str, member_id: str) -> None:
        self._context.timers.schedule(
            ("share session", group_id, member_id),
            delay_ms=member_configs(self._context, group_id).session_timeout_ms,
            operation=lambda: self._session_over(group_id, member_id),
        )

    def _session_over(self, group_id: str, member_id: str) -> Outcome:
        group = self._context.groups.get(group_id)
        member = group.members.get(member_id) if isinstance(group, ShareGroup) else None
        if not isinstance(group, ShareGroup) or member is None:
            return NOTHING
        return self._fence(group, member, "sent no heartbeat")


def _check(request: wire.ShareGroupHeartbeatRequest) -> None:
    for name, text in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("RackId", request.rack_id),
    ):
        if text == "":
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
    if request.member_epoch == 0 and not request.subscribed_topic_names:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request."
        )
    if request.member_epoch < LEAVE_EPOCH:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")


def _check_epoch(member: ShareMember, request: wire.ShareGroupHeartbeatRequest) -> None:
    epoch = request.member_epoch
    if epoch not in (0, member.epoch, member.previous_epoch) or epoch > member.epoch:
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"member {member.id} has epoch {member.epoch} but sent {epoch}; it must abandon all "
            "its partitions and join again",
        )


def _updated(
    member: ShareMember, client: Client, request: wire.ShareGroupHeartbeatRequest
) -> ShareMember:
    """The member with the request's fields; fields that are not set stay unchanged."""
    names = request.subscribed_topic_names
    return replace(
        member,
        rack_id=request.rack_id or member.rack_id,
        client_id=client.id,
        client_host=client.host,
        topics=member.topics if names is None else frozenset(names),
    )


def _topics_after(group: ShareGroup, known: ShareMember, updated: ShareMember) -> set[str]:
    """The subscribed topics of all members after the change of one."""
    topics = {
        name
        for name, count in group.topics.items()
        if count > (known.id in group.members and name in known.topics)
    }
    return topics | updated.topics


def _assignment(assigned: Assignment) -> wire.Assignment:
    return wire.Assignment(
        topic_partitions=[
            wire.TopicPartitions(topic_id=topic_id, partitions=numbers)
            for topic_id, numbers in by_topic(assigned).items()
        ]
    )
