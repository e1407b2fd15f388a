"""Carries out the life cycle of one pipeline: starts, stops and renews its child, and writes down
what happens, before it happens where that matters."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from ottla.client.errors import ClientError
from ottla.runtime.clock import Clock, Timer
from ottla.runtime.tasks import Tasks
from ottla.web.supervisor.model.deployment import (
    EVENTS_MAX,
    Deployment,
    PipelineEvent,
    PipelineRun,
    encode,
)
from ottla.web.supervisor.model.lifecycle import (
    Exit,
    KillChild,
    Lifecycle,
    PipelineState,
    PipelineTarget,
    StartChild,
    StopChild,
)
from ottla.web.supervisor.running.child import Child, ChildRefusedError, Children

_log = logging.getLogger(__name__)

_WRITE_AGAIN_S: Final = 1.0


class PipelineOwner(Protocol):
    """What a pipeline needs of its shard."""

    worker: str
    host: str
    generation: int
    clock: Clock
    children: Children
    tasks: Tasks

    @property
    def lease_until(self) -> float:
        """Until when children may run; in the past while the shard is not owned for certain."""

    async def write(self, records: Sequence[tuple[str, bytes | None]]) -> int:
        """Raises ClientError."""


class OwnedPipeline:
    """Runs in a task of the shard. `until` is when the last run, on another supervisor, must have
    ended."""

    def __init__(
        self,
        deployment: Deployment,
        owner: PipelineOwner,
        *,
        run: PipelineRun | None,
        history: Sequence[PipelineEvent],
        until: float,
    ) -> None:
        self.deployment = deployment
        self.child: Child | None = None
        self._owner = owner
        self._history = list(history)
        self._written: PipelineRun | None = None
        self._takeover = until
        epoch = 0 if run is None else run.epoch
        self._lifecycle = Lifecycle(deployment.target, epoch=epoch, not_before=until)
        self._started_ms = 0 if run is None else run.started_ms
        self._exit: Exit | None = None
        self._wake = asyncio.Event()
        self._ended = asyncio.Event()
        self._ended.set()

    # ---- from the shard

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            self._wake.clear()
            now = self._owner.clock.monotonic()
            if self._exit is not None:
                self._lifecycle.child_ended(self._exit, now)
                self._exit = None
            match self._lifecycle.next(now):
                case StartChild(epoch):
                    await self._start(epoch)
                    continue
                case StopChild():
                    if self.child is not None:
                        self.child.stop()
                    continue
                case KillChild():
                    self.kill()
                    continue
            await self._wait(is_written=await self._announce())

    def renew(self, until: float) -> None:
        if self.child is not None:
            self.child.renew(until)

    def change(self, deployment: Deployment) -> None:
        """To a new version, another target, or a restart."""
        before, self.deployment = self.deployment, deployment
        if before.target is not deployment.target:
            self._lifecycle.aim(deployment.target)
        if (before.version, before.restarts) != (deployment.version, deployment.restarts):
            self._lifecycle.restart(self._owner.clock.monotonic())
        self._wake.set()

    def stop(self) -> None:
        """Whatever the user wants: the shard goes elsewhere."""
        self._lifecycle.aim(PipelineTarget.STOPPED)
        self._wake.set()

    def kill(self) -> None:
        """A child that is just being started is killed then: its lease is in the past."""
        if self.child is not None:
            self.child.kill()

    async def wait_ended(self) -> None:
        """Returns when there is no child."""
        await self._ended.wait()

    @property
    def state(self) -> PipelineState:
        return self._lifecycle.state

    @property
    def progress(self) -> Mapping[str, Mapping[str, Any]]:
        return {} if self.child is None else self.child.progress

    @property
    def failures(self) -> int:
        return self._lifecycle.failures

    def event(self, event: str, detail: str = "") -> bytes:
        """The history with this event, to be written."""
        self._history.append(PipelineEvent(self._owner.clock.now_ms(), event, detail))
        del self._history[:-EVENTS_MAX]
        return encode(self._history)

    def final_run(self) -> PipelineRun:
        """The last run as it is left to the next owner."""
        return self._run(is_open=False, state=PipelineState.UNASSIGNED)

    # ---- the child

    async def _start(self, epoch: int) -> None:
        """A run is written down before its child starts, so that no later owner misses it."""
        owner = self._owner
        self._ended.clear()
        self._started_ms = owner.clock.now_ms()
        run = self._run(is_open=True, state=PipelineState.RUNNING)
        detail = f"epoch {epoch} of version {self.deployment.version} on {owner.worker}"
        try:
            await owner.write(
                [
                    (f"run/{self.deployment.name}", encode(run)),
                    (f"history/{self.deployment.name}", self.event("started", detail)),
                ]
            )
            self._written = run
            self.child = await self._started(epoch)
        except ChildRefusedError as error:
            self._exit = Exit(is_failure=True, reason=str(error), is_hopeless=True)
        except (ClientError, OSError) as error:
            self._exit = Exit(is_failure=False, reason=f"cannot start: {error}")
        finally:
            if self.child is None:
                self._ended.set()
        if self.child is not None:
            # Meanwhile the lease may have been renewed, or lost.
            self.child.renew(owner.lease_until)
            _log.info("started %s, %s", self.deployment.name, detail)
            if owner.lease_until <= owner.clock.monotonic():
                self.child.kill()
            owner.tasks.start(f"child of {self.deployment.name}", self._wait_child(self.child))

    async def _started(self, epoch: int) -> Child:
        owner = self._owner
        until = owner.lease_until
        if until <= owner.clock.monotonic():
            raise OSError("the lease of this supervisor has expired")
        return await owner.children.start(self.deployment, epoch, until)

    async def _wait_child(self, child: Child) -> None:
        end = await child.ended()
        _log.info("%s has ended: %s", self.deployment.name, end.reason or "stopped")
        self._exit = end
        self.child = None
        self._ended.set()
        self._wake.set()

    # ---- what is written down

    async def _announce(self) -> bool:
        """Writes the state if it has changed. Returns whether it is written."""
        run = self._run(is_open=self._lifecycle.has_child, state=self._lifecycle.state)
        before = self._written
        if run == before:
            return True
        records: list[tuple[str, bytes | None]] = [(f"run/{self.deployment.name}", encode(run))]
        if before is None or (before.state, before.reason) != (run.state, run.reason):
            event = self.event(run.state.value.lower(), run.reason)
            records.append((f"history/{self.deployment.name}", event))
        try:
            await self._owner.write(records)
        except ClientError:
            return False
        self._written = run
        return True

    def _run(self, *, is_open: bool, state: PipelineState) -> PipelineRun:
        lifecycle, owner = self._lifecycle, self._owner
        reason = lifecycle.reason if state is not PipelineState.RUNNING else ""
        if not reason and not lifecycle.has_child and owner.clock.monotonic() < self._takeover:
            reason = "waiting until the lease of the previous supervisor has expired"
        return PipelineRun(
            epoch=lifecycle.epoch,
            generation=owner.generation,
            worker=owner.worker,
            host=owner.host,
            started_ms=self._started_ms,
            is_open=is_open,
            state=state,
            reason=reason,
            failures=lifecycle.failures,
        )

    async def _wait(self, *, is_written: bool) -> None:
        clock = self._owner.clock
        wake_at = self._lifecycle.wake_at
        if not is_written:
            again = clock.monotonic() + _WRITE_AGAIN_S
            wake_at = again if wake_at is None else min(wake_at, again)
        timer: Timer | None = None
        if wake_at is not None:
            timer = clock.call_later(max(0.0, wake_at - clock.monotonic()), self._wake.set)
        try:
            await self._wake.wait()
        finally:
            if timer is not None:
                timer.cancel()
