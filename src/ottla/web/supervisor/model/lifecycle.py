"""The life cycle of one pipeline on the supervisor that owns it.

States: a pipeline has a child, or none. Without one it waits for `not_before`, or for good if it is
not wanted or has failed. A child is running, or it is being ended: first in order, after a while by
force.

Invariants: there is at most one child, and its epoch is higher than that of every run before. A
pipeline whose last run was not seen to end is not started before `TAKEOVER_S` have passed since its
owner fenced all earlier owners: by then the lease of that run has expired, and the child has ended
itself. The owner is `OwnedPipeline`, which carries out what `next` returns and reports the outcome.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

# A child ends itself when its lease is not renewed. Leases last from the moment before a heartbeat
# was committed, so an owner that was fenced has granted none after it.
LEASE_S: Final = 12.0
# The lease, and time for a child to end itself.
TAKEOVER_S: Final = LEASE_S + 6.0
STOP_S: Final = 40.0
BACKOFF_S_FIRST: Final = 1.0
BACKOFF_S_MAX: Final = 60.0
# A child that ran for so long was healthy: its failure begins a new series.
HEALTHY_S: Final = 120.0
FAILURES_MAX: Final = 10


class PipelineTarget(StrEnum):
    """What the user wants."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class PipelineState(StrEnum):
    """What is, by Kafka Connect's names."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    RESTARTING = "RESTARTING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"


class Exit(NamedTuple):
    """How a child ended. A hopeless one would fail in the same way again."""

    is_failure: bool
    reason: str
    is_hopeless: bool = False


class StartChild(NamedTuple):
    epoch: int


class StopChild(NamedTuple):
    epoch: int


class KillChild(NamedTuple):
    epoch: int


Step: TypeAlias = StartChild | StopChild | KillChild


class Lifecycle:
    """`epoch` is that of the last run, here or elsewhere."""

    def __init__(self, target: PipelineTarget, *, epoch: int, not_before: float = 0.0) -> None:
        self.epoch = epoch
        self.reason = ""
        self.failures = 0
        self._target = target
        self._not_before = not_before
        self._not_before_of_takeover = not_before
        self._has_child = False
        self._is_restarting = False
        self._started_at = 0.0
        # When a child that is being ended is killed.
        self._kill_at: float | None = None
        self._is_killed = False
        self._has_failed = False

    def next(self, now: float) -> Step | None:
        """What to do now. It counts as done."""
        if self._has_child:
            return self._next_of_child(now)
        if self._target is not PipelineTarget.RUNNING or self._has_failed or now < self._not_before:
            return None
        self.epoch += 1
        self._has_child = True
        self._started_at = now
        self._kill_at, self._is_killed, self._is_restarting = None, False, False
        return StartChild(self.epoch)

    def _next_of_child(self, now: float) -> Step | None:
        if (
            self._target is PipelineTarget.RUNNING
            and not self._is_restarting
            and self._kill_at is None
        ):
            return None
        if self._kill_at is None:
            self._kill_at = now + STOP_S
            return StopChild(self.epoch)
        if now >= self._kill_at and not self._is_killed:
            self._is_killed = True
            return KillChild(self.epoch)
        return None

    @property
    def wake_at(self) -> float | None:
        """When `next` may return something though nothing has happened."""
        if self._has_child:
            return None if self._is_killed else self._kill_at
        is_waiting = self._target is PipelineTarget.RUNNING and not self._has_failed
        return self._not_before if is_waiting else None

    def aim(self, target: PipelineTarget) -> None:
        """A failure is forgotten."""
        self._target = target
        self._begin_again()

    def restart(self, now: float) -> None:
        """Ends the child, if there is one, and starts the next without a pause."""
        self._is_restarting = self._has_child
        self._begin_again()
        # A pause after a failure ends; the time in which an earlier run may go on does not.
        self._not_before = max(self._not_before_of_takeover, min(self._not_before, now))

    def _begin_again(self) -> None:
        self._has_failed = False
        self.failures = 0

    def child_ended(self, end: Exit, now: float) -> None:
        """Also for a child that could not be started."""
        assert self._has_child, "a child ends once"
        was_asked = self._kill_at is not None
        self._has_child = False
        self._kill_at = None
        if was_asked:
            self.reason = ""
            self._not_before = now
            return
        if now - self._started_at >= HEALTHY_S:
            self.failures = 0
        self.failures += 1
        self.reason = end.reason
        if end.is_hopeless or (end.is_failure and self.failures >= FAILURES_MAX):
            self._has_failed = True
        pause = min(BACKOFF_S_FIRST * 2 ** (self.failures - 1), BACKOFF_S_MAX)
        self._not_before = now + pause

    @property
    def has_child(self) -> bool:
        return self._has_child

    @property
    def state(self) -> PipelineState:
        if self._target is PipelineTarget.STOPPED:
            return PipelineState.STOPPED
        if self._target is PipelineTarget.PAUSED:
            return PipelineState.PAUSED
        if self._has_failed:
            return PipelineState.FAILED
        is_running = self._has_child and self._kill_at is None and not self._is_restarting
        return PipelineState.RUNNING if is_running else PipelineState.RESTARTING
