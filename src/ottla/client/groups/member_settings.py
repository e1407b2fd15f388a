"""How a member joins its group."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.client.groups.assignors import ASSIGNORS, RANGE, ClassicAssignor


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSettings:
    """`session_timeout_ms`, `heartbeat_interval_ms` and `assignors` are of the classic protocol;
    with the consumer protocol, the coordinator decides them."""

    group_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    max_poll_interval_ms: int = 300_000
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    assignors: tuple[ClassicAssignor, ...] = (ASSIGNORS[RANGE],)
    remote_assignor: str | None = None
