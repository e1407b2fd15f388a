"""Timeouts of a consumer group's members: for heartbeats, for revoking partitions, and, for members
of the classic protocol, for JoinGroup and SyncGroup."""

from __future__ import annotations

from collections.abc import Callable

from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.member import ConsumerMember, MemberState
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.runtime.outcome import NOTHING, Outcome

# Fences a member of a group, with the reason.
Fence = Callable[[ConsumerGroup, ConsumerMember, str], Outcome]


class ConsumerSessions:
    """Created with the coordinator of a partition."""

    def __init__(self, context: GroupContext, fence: Fence) -> None:
        self._context = context
        self._fence = fence

    def renew(self, group_id: str, member_id: str, *, timeout_ms: int) -> None:
        self._context.timers.schedule(
            ("session", group_id, member_id),
            delay_ms=timeout_ms,
            operation=lambda: self._over(group_id, member_id, None, "sent no heartbeat"),
        )

    def follow(self, group_id: str, member: ConsumerMember) -> None:
        """Starts or cancels the revocation timer: a member must revoke partitions within its
        rebalance timeout."""
        key = ("revocation", group_id, member.id)
        if member.classic is not None or member.state is not MemberState.UNREVOKED_PARTITIONS:
            self._context.timers.cancel(key)
            return
        member_id, epoch = member.id, member.epoch
        self._context.timers.schedule(
            key,
            delay_ms=member.rebalance_timeout_ms,
            operation=lambda: self._over(
                group_id, member_id, epoch, "did not revoke its partitions in time"
            ),
        )

    def has_to_join(self, group_id: str, member: ConsumerMember) -> None:
        """Starts the join timer, after a classic member was sent REBALANCE_IN_PROGRESS."""
        member_id = member.id
        self._context.timers.schedule_if_absent(
            ("join", group_id, member_id),
            delay_ms=member.rebalance_timeout_ms,
            operation=lambda: self._over(group_id, member_id, None, "did not join in time"),
        )

    def has_joined(self, group_id: str, member: ConsumerMember) -> None:
        """Starts the sync timer: a classic member that has joined must send SyncGroup."""
        member_id = member.id
        self._renew_classic(group_id, member)
        self._context.timers.cancel(("join", group_id, member_id))
        self._context.timers.schedule(
            ("sync", group_id, member_id),
            delay_ms=member.rebalance_timeout_ms,
            operation=lambda: self._over(group_id, member_id, None, "did not sync in time"),
        )

    def has_synced(self, group_id: str, member: ConsumerMember) -> None:
        self._renew_classic(group_id, member)
        self._context.timers.cancel(("sync", group_id, member.id))

    def _renew_classic(self, group_id: str, member: ConsumerMember) -> None:
        assert member.classic is not None
        self.renew(group_id, member.id, timeout_ms=member.classic.session_timeout_ms)

    def end(self, group_id: str, member_id: str) -> None:
        for what in ("session", "revocation", "join", "sync"):
            self._context.timers.cancel((what, group_id, member_id))

    def _over(self, group_id: str, member_id: str, epoch: int | None, reason: str) -> Outcome:
        group = self._context.groups.get(group_id)
        if not isinstance(group, ConsumerGroup):
            return NOTHING
        member = group.members.get(member_id)
        if member is None or epoch not in (None, member.epoch):
            return NOTHING
        return self._fence(group, member, reason)
