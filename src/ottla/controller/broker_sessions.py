"""Which brokers are alive according to the active controller. None of it is in the metadata log.

    serving ──heartbeat──▶ serving, for another session timeout
       │ ╲
       │  ╲──connection closed──▶ suspected ──heartbeat──▶ serving
       │                              │ grace period over
       └───session timeout────────────┴──▶ overdue, to be fenced

A broker without heartbeats may be slow or paused, and keeps its session for the whole
`broker.session.timeout.ms`. A broker whose connection closed has most likely died: it gets only a
short grace period, in which a live broker reconnects and sends a heartbeat. A fenced broker has no
session.

Times are milliseconds of a monotonic clock. There are few brokers, so iterating over all of them is
cheap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ottla.metadata import BrokerRegistration

# A broker on the same network reconnects and sends a heartbeat within a few milliseconds.
RECONNECT_GRACE_MS: Final = 100

_NOT_SHUTTING_DOWN: Final = -1


@dataclass(slots=True)
class _Session:
    deadline_ms: int
    # The metadata offset in the last heartbeat; -1 before the first one.
    metadata_offset: int = -1
    connection: object | None = None
    # Whether there was a heartbeat, and no closed connection since.
    has_heartbeat: bool = False
    # The other brokers have to replicate this offset before the broker may stop.
    controlled_shutdown_offset: int = _NOT_SHUTTING_DOWN


class BrokerSessions:
    """Created when a controller becomes active, with a full session for every unfenced broker,
    since the times of their last heartbeats are unknown. Discarded when it is deposed."""

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
                # The offset is unknown: wait for a heartbeat of every other broker.
                if broker.in_controlled_shutdown:
                    session.controlled_shutdown_offset = 0
                self._sessions[broker.id] = session

    # ---- events

    def heartbeat(
        self,
        broker_id: int,
        *,
        now_ms: int,
        metadata_offset: int,
        is_fenced: bool,
        connection: object | None = None,
    ) -> None:
        """A heartbeat arrived and was answered with `is_fenced`."""
        if is_fenced:
            self.end(broker_id)
            return
        session = self._sessions.get(broker_id)
        if session is None:
            session = self._sessions[broker_id] = _Session(now_ms)
        session.deadline_ms = now_ms + self._session_timeout_ms
        session.metadata_offset = metadata_offset
        session.connection = connection
        session.has_heartbeat = True

    def end(self, broker_id: int) -> None:
        """A broker was fenced, unregistered or replaced by its next incarnation."""
        self._sessions.pop(broker_id, None)

    def disconnected(self, connection: object, *, now_ms: int) -> None:
        """A connection closed. This matters only if a broker's last heartbeat arrived on it."""
        for broker_id, session in self._sessions.items():
            if session.connection is connection:
                self.suspect(broker_id, until_ms=now_ms + self._reconnect_grace_ms)

    def suspect(self, broker_id: int, *, until_ms: int) -> None:
        """A broker seems to have died; a heartbeat until `until_ms` proves otherwise."""
        session = self._sessions.get(broker_id)
        if session is not None:
            session.connection = None
            session.has_heartbeat = False
            session.deadline_ms = min(session.deadline_ms, until_ms)

    def begin_controlled_shutdown(self, broker_id: int, *, offset: int) -> None:
        """`offset` is that of the last record that moves the broker's leaderships away. Later calls
        for the same session are ignored."""
        session = self._sessions.get(broker_id)
        if session is not None and session.controlled_shutdown_offset == _NOT_SHUTTING_DOWN:
            session.controlled_shutdown_offset = offset

    # ---- queries

    @property
    def next_deadline_ms(self) -> int | None:
        """When to look for an overdue broker, None if no broker can become one."""
        return min((each.deadline_ms for each in self._sessions.values()), default=None)

    def overdue(self, *, now_ms: int) -> int | None:
        """The broker that has been overdue longest. One at a time: fencing it elects new leaders,
        and the next overdue broker may be among them."""
        broker_id = min(
            self._sessions, key=lambda each: (self._sessions[each].deadline_ms, each), default=None
        )
        if broker_id is None or self._sessions[broker_id].deadline_ms > now_ms:
            return None
        return broker_id

    def has_session(self, broker_id: int, *, now_ms: int) -> bool:
        """Whether a broker is certainly alive. A suspected broker is not, so that its next
        incarnation can register without waiting after a crash."""
        session = self._sessions.get(broker_id)
        return session is not None and session.has_heartbeat and now_ms < session.deadline_ms

    def others_know(self, broker_id: int) -> bool:
        """Whether a broker in controlled shutdown may stop: all remaining brokers have replicated
        the metadata that moves its leaderships away."""
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
