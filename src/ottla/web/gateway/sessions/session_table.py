"""Which sessions exist, who uses them, and when they end. Pure: the time is an argument.

A session is named by its caller, its group and its instance. States:

    open ── acquire ──> in use ── release ──> open      expires after `idle_s` without use
      └──── remove ───> gone

Invariants: a session in use does not expire; a caller sees only sessions of its own; the number of
sessions is at most `sessions_max`, and that of one caller at most `per_caller_max`. Requests for
one session take turns (`Session.lock`), at most `waiting_max` of them at a time.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from ottla.web.gateway.problems import too_many

T = TypeVar("T")


class SessionName(NamedTuple):
    """`caller` is the key of the credentials."""

    caller: str
    group: str
    instance: str


class SessionLimits(NamedTuple):
    """`timeout_s` is the time after which a group goes on without the consumers of a gateway that
    was killed."""

    sessions_max: int = 1_000
    per_caller_max: int = 200
    waiting_max: int = 16
    idle_s: float = 300.0
    timeout_s: float = 10.0


@dataclass(slots=True)
class Session(Generic[T]):
    """One consumer. `users` counts the requests that use it or wait for it."""

    name: SessionName
    consumer: T
    last_used: float
    users: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SessionTable(Generic[T]):
    """Owned by the gateway's loop. Closing the consumers is the caller's work."""

    def __init__(self, limits: SessionLimits) -> None:
        self.limits = limits
        self._sessions: dict[SessionName, Session[T]] = {}
        self._by_caller: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, name: SessionName) -> Session[T] | None:
        return self._sessions.get(name)

    def check_room(self, caller: str, opening: Sequence[str] = ()) -> None:
        """Raises a problem with status 429 if one session more is too many, beside those that are
        being opened, of these callers."""
        if len(self._sessions) + len(opening) >= self.limits.sessions_max:
            raise too_many("SESSIONS_EXHAUSTED", "The gateway has reached its limit of sessions.")
        count = self._by_caller[caller] + opening.count(caller)
        if count >= self.limits.per_caller_max:
            raise too_many(
                "SESSIONS_EXHAUSTED",
                f"This caller has {count} sessions, which is its limit: delete some, or let them "
                "expire.",
            )

    def add(self, name: SessionName, consumer: T, *, now: float) -> Session[T]:
        assert name not in self._sessions, name
        session = self._sessions[name] = Session(name, consumer, now)
        self._by_caller[name.caller] += 1
        return session

    def remove(self, name: SessionName) -> Session[T] | None:
        session = self._sessions.pop(name, None)
        if session is not None:
            self._by_caller[name.caller] -= 1
            if not self._by_caller[name.caller]:
                del self._by_caller[name.caller]
        return session

    def acquire(self, session: Session[T]) -> None:
        if session.users > self.limits.waiting_max:
            raise too_many(
                "SESSION_BUSY",
                f"{session.users} requests use this session or wait for it: send one after "
                "the other, or use several instances.",
            )
        session.users += 1

    def release(self, session: Session[T], *, now: float) -> None:
        assert session.users > 0, session.name
        session.users -= 1
        session.last_used = now

    def expired(self, now: float) -> list[SessionName]:
        """Sessions that nobody has used for too long."""
        return [
            name
            for name, session in self._sessions.items()
            if not session.users and now - session.last_used >= self.limits.idle_s
        ]

    def __iter__(self) -> Iterator[Session[T]]:
        return iter(list(self._sessions.values()))
