"""Answers waiting members when their group is unloaded or no longer classic."""

from __future__ import annotations

from ottla.coordinator.groups.classic.group import ClassicGroup
from ottla.coordinator.groups.classic.responses import (
    answer_join,
    answer_sync,
    join_refused,
    sync_refused,
)
from ottla.model import ErrorCode


def refuse_waiting(group: ClassicGroup, error: ErrorCode) -> None:
    for member in list(group.members.values()):
        answer_join(member, join_refused(error, member.id))
        answer_sync(member, sync_refused(error))
