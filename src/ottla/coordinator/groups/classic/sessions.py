"""Session timers of a classic group's members: for heartbeats, and for a pending member to join.

A timer's key is its purpose, the group and the member.
"""

from __future__ import annotations

from typing import Final, Protocol

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.member import ClassicMember
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.runtime.outcome import Outcome

# The timeout for a client that disappears during its first join.
NEW_MEMBER_TIMEOUT_MS: Final = 300_000


class SessionEnds(Protocol):
    """The callback for expired sessions."""

    def member_expired(self, group_id: str, member_id: str) -> Outcome: ...


class ClassicSessions:
    """Created with the coordinator of a partition."""

    def __init__(self, context: GroupContext) -> None:
        self._timers = context.timers
        self.ends: SessionEnds | None = None

    def renew(self, group: ClassicGroup, member: ClassicMember) -> None:
        self.begin(group, member.id, timeout_ms=member.session_timeout_ms)

    def begin(self, group: ClassicGroup, member_id: str, *, timeout_ms: int) -> None:
        ends, group_id = self.ends, group.id
        assert ends is not None
        self._timers.schedule(
            _key(group_id, member_id),
            delay_ms=timeout_ms,
            operation=lambda: ends.member_expired(group_id, member_id),
        )

    def end(self, group: ClassicGroup, member_id: str) -> None:
        self._timers.cancel(_key(group.id, member_id))


def _key(group_id: str, member_id: str) -> tuple[str, str, str]:
    return ("classic session", group_id, member_id)
