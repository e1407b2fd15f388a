"""A simulation: hosts with their clocks, disks and network, all determined by one seed.

    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        ...
        cluster.node(1).kill()

    World(seed=7).run(story)

The story runs in virtual time, concurrently with the nodes and clients that it controls.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import warnings
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar, cast

from ottla.simulation.history.history import Event, Failed, History, Noted
from ottla.simulation.history.unexpected import is_unexpected
from ottla.simulation.network.fabric import Fabric
from ottla.simulation.network.network import Neighbourhood
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.seams.host_clock import HostClock
from ottla.simulation.seams.loop import ErrorContext, SimulatedLoop
from ottla.simulation.seams.scheduler import Scheduler
from ottla.simulation.world.host import Host, HostSurroundings

T = TypeVar("T")
_STEP_SECONDS: Final = 0.02


class World:
    """A simulation: its seed, time, hosts and network. `run` it once, then read its `history`."""

    def __init__(self, seed: int | str, *, notes: bool = False) -> None:
        """With `notes`, the nodes' log messages become part of the history."""
        self.seed = seed
        self.dice = SeededDice(seed)
        self.history = History()
        self.scheduler = Scheduler()
        self.fabric = Fabric(self.scheduler, self.dice.fork("network"))
        self.clock = HostClock(self.scheduler)
        self.has_notes = notes
        self._is_over = False
        self._hosts: dict[str, Host] = {}
        self.surroundings = HostSurroundings(
            self.scheduler, Neighbourhood(self.fabric), self.dice, self.record, self._on_error
        )
        # The host of the story and of all clients without a host of their own.
        self.here = self.host("story")

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        return self.scheduler.now

    @property
    def hosts(self) -> list[Host]:
        """All hosts, nodes included."""
        return list(self._hosts.values())

    @property
    def host_names(self) -> list[str]:
        return list(self._hosts)

    def run(self, story: Callable[[World], Coroutine[Any, Any, T]]) -> T:
        """Runs a story to its end and returns its result, or raises its exception."""
        listener = _Listener(self)
        logger = logging.getLogger("ottla")
        level, propagates = logger.level, logger.propagate
        logger.addHandler(listener)
        logger.setLevel(logging.INFO if self.has_notes else logging.WARNING)
        logger.propagate = False
        try:
            task = self.here.run("story", story(self))
            self.scheduler.run_until(task.done)
            return cast(T, task.result())
        finally:
            self._close()
            logger.removeHandler(listener)
            logger.setLevel(level)
            logger.propagate = propagates

    # ---- for stories

    def add_host(self, host: Host) -> None:
        self._hosts[host.name] = host

    def host(self, name: str) -> Host:
        """Adds a host with a running process, for clients."""
        host = self._hosts[name] = Host(self.surroundings, name)
        host.start_process()
        return host

    async def sleep(self, seconds: float) -> None:
        """Waits in virtual time."""
        await self.clock.sleep(seconds)

    async def wait_until(
        self, is_so: Callable[[], bool], *, seconds: float, step: float = _STEP_SECONDS
    ) -> None:
        """Waits until the condition is true. Raises `TimeoutError` after this many virtual
        seconds."""
        deadline = self.now + seconds
        while not is_so():
            if self.now >= deadline:
                raise TimeoutError(f"the condition was not met within {seconds} s of virtual time")
            await self.clock.sleep(step)

    async def run_on(self, host: Host, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the process of a host, and returns its result."""
        if host is self.here:
            return await coroutine
        task = host.run("errand", coroutine)
        while not task.done():
            await self.clock.sleep(_STEP_SECONDS)
        return cast(T, task.result())

    def record(self, event: Event) -> None:
        if not self._is_over:
            self.history.add(self.scheduler.now, event)

    # ----

    def _on_error(self, who: str, context: ErrorContext) -> None:
        error = context.get("exception")
        if error is None or is_unexpected(error):
            self.record(Failed(who, f"{context.get('message')}: {error!r}"))

    def _close(self) -> None:
        """Cleans up killed processes, and ignores what their cleanup logs or raises."""
        self._is_over = True
        hook, sys.unraisablehook = sys.unraisablehook, lambda _unraisable: None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                for loop in self.surroundings.loops:
                    loop.forget()
                for host in self._hosts.values():
                    host.forget()
                self.scheduler.clear()
                self.fabric.clear()
                if gc.isenabled():
                    gc.collect()
        finally:
            sys.unraisablehook = hook


class _Listener(logging.Handler):
    """Records what nodes log, with the name of the node."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        who = loop.name if isinstance(loop, SimulatedLoop) else "?"
        if isinstance(loop, SimulatedLoop) and loop.has_ended:
            return
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and is_unexpected(error):
            self._world.record(Failed(who, f"{record.getMessage()}: {error!r}"))
        elif self._world.has_notes:
            said = record.getMessage() + (f": {error!r}" if error is not None else "")
            self._world.record(Noted(who, said))
