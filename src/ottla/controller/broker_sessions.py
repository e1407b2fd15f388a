"""Which brokers are alive, as the active controller sees it. None of it is in the metadata log.

    serving ──heartbeat──▶ serving, for another session timeout
       │ ╲
       │  ╲──connection closed──▶ suspected ──heartbeat──▶ serving
       │                              │ grace over
       └───session timeout────────────┴──▶ overdue, to be fenced

A broker that is silent may be slow or paused, and has the whole `broker.session.timeout.ms`. One
whose connection closed has most likely died: it has only the short time that it takes a living one
to connect anew and say so. A broker that has nothing to lose, because it is fenced, has no session.

Times are milliseconds of a clock that never goes back. There are few brokers, so that looking at
all of them is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ottla.metadata import BrokerRegistration

# A broker on the same network needs a few of these milliseconds to connect and to send a heartbeat.
RECONNECT_GRACE_MS: Final = 100

_NOT_SHUTTING_DOWN: Final = -1


@dataclass(slots=True)
class _Session:
    deadline_ms: int
    # The offset in the metadata log that the broker has read, -1 before it said so.
    metadata_offset: int = -1
    connection: object | None = None
    # Whether there was a heartbeat, and no sign of death since.
    is_heard: bool = False
    # Once the others have read this, they know that the broker leads nothing any more.
    controlled_shutdown_offset: int = _NOT_SHUTTING_DOWN


class BrokerSessions:
    """Made when a controller becomes active, with a whole session for every broker that is not
    fenced: it cannot know when they were heard last. Dropped when it is deposed."""

    def __init__(
        self,
        brokers: Iterable[BrokerRegistration],
        *,
        session_timeout_ms: int,
        now_ms: int,
        reconnect_grace_ms: int = RECONNECT_GRACE_MS,
    ) -> None:
        self._session_timeout_ms = session_timeout_ms
        self._reconnect_grace_ms = reconnect_grace_ms
        self._sessions: dict[int, _Session] = {}
        for broker in brokers:
            if not broker.fenced:
                session = _Session(now_ms + session_timeout_ms)
                # Until the others are heard, nobody knows what they have read.
                if broker.in_controlled_shutdown:
                    session.controlled_shutdown_offset = 0
                self._sessions[broker.id] = session

    # ---- what happens

    def heartbeat(
        self,
        broker_id: int,
        *,
        now_ms: int,
        metadata_offset: int,
        is_fenced: bool,
        connection: object | None = None,
    ) -> None:
        """A broker was heard, and its heartbeat was answered with `is_fenced`."""
        if is_fenced:
            self.end(broker_id)
            return
        session = self._sessions.get(broker_id)
        if session is None:
            session = self._sessions[broker_id] = _Session(now_ms)
        session.deadline_ms = now_ms + self._session_timeout_ms
        session.metadata_offset = metadata_offset
        session.connection = connection
        session.is_heard = True

    def end(self, broker_id: int) -> None:
        """A broker was fenced, unregistered or replaced by its next incarnation."""
        self._sessions.pop(broker_id, None)

    def disconnected(self, connection: object, *, now_ms: int) -> None:
        """A connection closed. It matters if a broker's last heartbeat came over it."""
        for broker_id, session in self._sessions.items():
            if session.connection is connection:
                self.suspect(broker_id, until_ms=now_ms + self._reconnect_grace_ms)

    def suspect(self, broker_id: int, *, until_ms: int) -> None:
        """A broker seems to have died; it has until then to show that it has not."""
        session = self._sessions.get(broker_id)
        if session is not None:
            session.connection = None
            session.is_heard = False
            session.deadline_ms = min(session.deadline_ms, until_ms)

    def begin_controlled_shutdown(self, broker_id: int, *, offset: int) -> None:
        """`offset` is that of the last record that moves the broker's leaderships away. Only the
        first time counts."""
        session = self._sessions.get(broker_id)
        if session is not None and session.controlled_shutdown_offset == _NOT_SHUTTING_DOWN:
            session.controlled_shutdown_offset = offset

    # ---- what follows

    @property
    def next_deadline_ms(self) -> int | None:
        """When to look for an overdue broker, None if no broker can become one."""
        return min((each.deadline_ms for each in self._sessions.values()), default=None)

    def overdue(self, *, now_ms: int) -> int | None:
        """The broker that has been due longest. One at a time: fencing it decides who leads, and
        the next one may be among them."""
        broker_id = min(
            self._sessions, key=lambda each: (self._sessions[each].deadline_ms, each), default=None
        )
        if broker_id is None or self._sessions[broker_id].deadline_ms > now_ms:
            return None
        return broker_id

    def has_session(self, broker_id: int, *, now_ms: int) -> bool:
        """Whether a broker is alive beyond doubt. One that is suspected is not, so that the next
        incarnation of one that crashed need not wait."""
        session = self._sessions.get(broker_id)
        return session is not None and session.is_heard and now_ms < session.deadline_ms

    def others_know(self, broker_id: int) -> bool:
        """Whether a broker in controlled shutdown may stop: all that stay have read that its
        leaderships are elsewhere."""
        session = self._sessions.get(broker_id)
        if session is None:
            return True
        return session.controlled_shutdown_offset <= self._lowest_active_offset()

    def _lowest_active_offset(self) -> float:
        return min(
            (
                session.metadata_offset
                for session in self._sessions.values()
                if session.controlled_shutdown_offset == _NOT_SHUTTING_DOWN
            ),
            default=float("inf"),
        )
