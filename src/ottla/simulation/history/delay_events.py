"""Events of delayed delivery."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.simulation.history.history import Event


@dataclass(frozen=True, slots=True)
class DelaySent(Event):
    """A producer sends a record, after all earlier ones were answered. Without a due time it is
    delivered at once."""

    key: bytes
    value: bytes
    due_ms: int | None


@dataclass(frozen=True, slots=True)
class DelayAnswered(Event):
    """A record was acknowledged. The offset is -1 if the answer to a duplicate has none."""

    value: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class CancelSent(Event):
    """A producer cancels the held records with a key."""

    key: bytes


@dataclass(frozen=True, slots=True)
class CancelAnswered(Event):
    """A cancellation was acknowledged."""

    key: bytes
    offset: int


@dataclass(frozen=True, slots=True)
class DelayRead(Event):
    """A consumer got a record; its timestamp is when a leader appended it, by the leader's
    clock."""

    offset: int
    key: bytes
    value: bytes
    due_ms: int | None
    timestamp: int


@dataclass(frozen=True, slots=True)
class DelaysEnded(Event):
    """The end of the run: by the clocks of all nodes it is at least this time."""

    now_ms: int
