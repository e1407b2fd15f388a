"""Requests in flight: at most one per node, each with a timeout (KIP-595).

Every state transition calls `reset`, which drops all requests in flight; a response that arrives
later is ignored. So a response always belongs to the state that sent the request.
"""

from __future__ import annotations

from typing import NamedTuple

from ottla.raft.decisions import Destination
from ottla.wire.schema import Message


class InFlight(NamedTuple):
    number: int
    destination: Destination
    request: Message
    deadline_ms: int


class RaftConnections:
    """A node is ready, or has a request in flight, or is backing off after a failure."""

    def __init__(self, *, request_timeout_ms: int, retry_backoff_ms: int) -> None:
        self._request_timeout_ms = request_timeout_ms
        self._retry_backoff_ms = retry_backoff_ms
        self._in_flight: dict[int, InFlight] = {}
        self._backoff_end_ms: dict[int, int] = {}
        self._last_number = 0

    def is_ready(self, node_id: int) -> bool:
        return node_id not in self._in_flight and node_id not in self._backoff_end_ms

    def is_backing_off(self, node_id: int) -> bool:
        return node_id in self._backoff_end_ms

    @property
    def is_any_in_flight(self) -> bool:
        return bool(self._in_flight)

    @property
    def next_deadline_ms(self) -> int | None:
        """The next time at which a request times out or a backoff ends."""
        deadlines = [sent.deadline_ms for sent in self._in_flight.values()]
        return min((*deadlines, *self._backoff_end_ms.values()), default=None)

    def start(self, destination: Destination, request: Message, *, now_ms: int) -> int:
        assert self.is_ready(destination.node_id)
        self._last_number += 1
        self._in_flight[destination.node_id] = InFlight(
            self._last_number, destination, request, now_ms + self._request_timeout_ms
        )
        return self._last_number

    def take(self, number: int) -> InFlight | None:
        """Removes and returns the request with this number; None if it is no longer in flight."""
        for node_id, sent in self._in_flight.items():
            if sent.number == number:
                return self._in_flight.pop(node_id)
        return None

    def back_off(self, node_id: int, *, now_ms: int) -> None:
        if node_id not in self._in_flight:
            self._backoff_end_ms[node_id] = now_ms + self._retry_backoff_ms

    def make_ready(self, node_id: int) -> None:
        """Ends the backoff: a response arrived from the node, possibly from another address of
        it."""
        self._backoff_end_ms.pop(node_id, None)

    def advance(self, now_ms: int) -> None:
        """Ends backoffs that are over, and treats requests that timed out as failed."""
        for node_id, end_ms in list(self._backoff_end_ms.items()):
            if end_ms <= now_ms:
                del self._backoff_end_ms[node_id]
        for node_id, sent in list(self._in_flight.items()):
            if sent.deadline_ms <= now_ms:
                del self._in_flight[node_id]
                self.back_off(node_id, now_ms=now_ms)

    def reset(self) -> None:
        self._in_flight.clear()
        self._backoff_end_ms.clear()
