"""Rebalances: how a classic group moves to its next generation.

A change of the group starts a rebalance. Members learn of it from their heartbeats and rejoin. When
all have joined, or the rebalance timeout is over, the generation starts. A group's first generation
waits until no member has joined for a while, so that members that start together are in it together
(KIP-134). In a new generation every member must send SyncGroup within the rebalance timeout.
"""

from __future__ import annotations

import logging

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.group_records import group_record
from ottla.coordinator.groups.classic.member import ClassicMember
from ottla.coordinator.groups.classic.responses import (
    answer_join,
    answer_sync,
    join_refused,
    joined,
    sync_refused,
    synced,
)
from ottla.coordinator.groups.classic.sessions import ClassicSessions
from ottla.coordinator.groups.classic.states import ClassicState
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.runtime.outcome import NOTHING, Outcome
from ottla.model import ErrorCode

_log = logging.getLogger(__name__)


class ClassicRebalancing:
    """Created with the coordinator of a partition."""

    def __init__(self, context: GroupContext, sessions: ClassicSessions) -> None:
        self._context = context
        self._sessions = sessions
        sessions.ends = self

    # ---- preparing a generation

    def rebalance(self, group: ClassicGroup, reason: str) -> Outcome:
        """Starts a rebalance, or completes the current one if possible."""
        if group.can_rebalance:
            return self.prepare(group, reason)
        return self.maybe_complete(group)

    def prepare(self, group: ClassicGroup, reason: str) -> Outcome:
        if group.state is ClassicState.COMPLETING_REBALANCE:
            self.refuse_syncs(group, ErrorCode.REBALANCE_IN_PROGRESS)
        group.pending_sync.clear()
        self._context.timers.cancel(_sync_key(group))
        _log.info(
            "group %s: rebalances after generation %d: %s", group.id, group.generation, reason
        )
        is_initial = group.is_empty
        group.become(ClassicState.PREPARING_REBALANCE, now_ms=self._context.now_ms())
        if is_initial:
            now_s = self._context.clock.monotonic()
            group.initial_rebalance_ends_s = now_s + group.rebalance_timeout_ms / 1_000
            self.delay_initial(group)
            return NOTHING
        if group.has_all_joined:
            return self.complete(group)
        self._limit_joining(group)
        return NOTHING

    def maybe_complete(self, group: ClassicGroup) -> Outcome:
        """Completes the rebalance if all have joined. An initial rebalance ends only with its
        delay."""
        if (
            group.state is ClassicState.PREPARING_REBALANCE
            and group.previous_state is not ClassicState.EMPTY
            and group.has_all_joined
        ):
            return self.complete(group)
        return NOTHING

    def delay_initial(self, group: ClassicGroup) -> None:
        """Restarts the delay of the initial rebalance, because a member has joined and more may
        follow. Kafka waits in whole delays until no member joins during one, which never ends
        sooner and often later."""
        group_id = group.id
        left_ms = (group.initial_rebalance_ends_s - self._context.clock.monotonic()) * 1_000
        delay_ms = self._context.settings.initial_rebalance_delay_ms
        self._context.timers.schedule(
            _join_key(group_id),
            delay_ms=max(min(delay_ms, left_ms), 0),
            operation=lambda: self._joining_is_over(group_id),
        )

    def _limit_joining(self, group: ClassicGroup) -> None:
        group_id = group.id
        self._context.timers.schedule(
            _join_key(group_id),
            delay_ms=group.rebalance_timeout_ms,
            operation=lambda: self._joining_is_over(group_id),
        )

    def _joining_is_over(self, group_id: str) -> Outcome:
        group = self._context.groups.get_classic(group_id)
        if group is None or group.state is not ClassicState.PREPARING_REBALANCE:
            return NOTHING
        return self.complete(group)

    # ---- starting a generation

    def complete(self, group: ClassicGroup) -> Outcome:
        """Starts the generation with the members that have joined. Static members that have not
        joined stay members, because they are expected to return (KIP-345)."""
        self._context.timers.cancel(_join_key(group.id))
        for member in list(group.members.values()):
            if member.awaiting_join is None and not member.is_static:
                group.remove(member.id)
                self._sessions.end(group, member.id)
        if group.members and not group.elect_leader_that_joined():
            # All members are static and none has rejoined.
            self._limit_joining(group)
            return NOTHING
        group.begin_generation(now_ms=self._context.now_ms())
        if group.is_empty:
            return Outcome([group_record(group, {})], is_applied=True)
        for member in list(group.members.values()):
            is_leader = member.id == group.leader
            answer_join(member, joined(group, member.id, shows_members=is_leader))
            self._sessions.renew(group, member)
            member.is_new = False
            group.pending_sync.add(member.id)
        self._limit_syncing(group)
        return NOTHING

    def _limit_syncing(self, group: ClassicGroup) -> None:
        group_id, generation = group.id, group.generation
        self._context.timers.schedule(
            _sync_key(group),
            delay_ms=group.rebalance_timeout_ms,
            operation=lambda: self._syncing_is_over(group_id, generation),
        )

    def _syncing_is_over(self, group_id: str, generation: int) -> Outcome:
        group = self._context.groups.get_classic(group_id)
        if (
            group is None
            or group.generation != generation
            or group.state not in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE)
            or not group.pending_sync
        ):
            return NOTHING
        late = sorted(group.pending_sync)
        for member_id in late:
            group.remove(member_id)
            self._sessions.end(group, member_id)
        return self.prepare(group, f"{late} did not send SyncGroup in time")

    def has_synced(self, group: ClassicGroup, member: ClassicMember) -> None:
        """A member has sent SyncGroup."""
        group.pending_sync.discard(member.id)
        if not group.pending_sync:
            self._context.timers.cancel(_sync_key(group))

    def assign(self, group: ClassicGroup, assignments: dict[str, bytes]) -> None:
        """The leader's assignments are committed: answers the waiting SyncGroup requests."""
        for member in list(group.members.values()):
            member.assignment = assignments.get(member.id, b"")
            if answer_sync(member, synced(group, member)):
                self._sessions.renew(group, member)
        group.become(ClassicState.STABLE, now_ms=self._context.now_ms())

    def refuse_syncs(self, group: ClassicGroup, error: ErrorCode) -> None:
        for member in list(group.members.values()):
            member.assignment = b""
            if answer_sync(member, sync_refused(error)):
                self._sessions.renew(group, member)

    # ---- removing members

    def remove(self, group: ClassicGroup, member: ClassicMember) -> None:
        """Removes a member. The caller must then start a rebalance."""
        self._sessions.end(group, member.id)
        answer_join(member, join_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        answer_sync(member, sync_refused(ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member.id)

    def after_removal(self, group: ClassicGroup, reason: str) -> Outcome:
        if group.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
            return self.rebalance(group, reason)
        return self.maybe_complete(group)

    def member_expired(self, group_id: str, member_id: str) -> Outcome:
        """No heartbeat arrived within the session timeout."""
        group = self._context.groups.get_classic(group_id)
        if group is None:
            return NOTHING
        if member_id in group.pending_members:
            group.remove(member_id)
            return self.maybe_complete(group)
        member = group.members.get(member_id)
        if member is None or member.is_busy:
            return NOTHING
        self.remove(group, member)
        return self.after_removal(group, f"member {member_id} sent no heartbeat")


def _join_key(group_id: str) -> tuple[str, str]:
    return ("classic join", group_id)


def _sync_key(group: ClassicGroup) -> tuple[str, str]:
    return ("classic sync", group.id)
