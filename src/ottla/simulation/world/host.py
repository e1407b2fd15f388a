"""A simulated host: a permanent disk and clock, and at most one running process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ottla.channels import ChannelSecurity
from ottla.channels.channel_security import PLAINTEXT
from ottla.runtime.network import Address
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.history.history import Event
from ottla.simulation.network.network import Neighbourhood, SimulatedNetwork
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.seams.host_clock import HostClock
from ottla.simulation.seams.loop import ErrorContext, SimulatedLoop
from ottla.simulation.seams.scheduler import Scheduler
from ottla.simulation.world.background import SimulatedBackground


def _plaintext(_host: Host, _address: Address) -> ChannelSecurity:
    return PLAINTEXT


class HostSurroundings:
    """The objects that all hosts of a world share."""

    def __init__(
        self,
        scheduler: Scheduler,
        neighbourhood: Neighbourhood,
        dice: SeededDice,
        record: Callable[[Event], None],
        on_error: Callable[[str, ErrorContext], None],
    ) -> None:
        self.scheduler = scheduler
        self.neighbourhood = neighbourhood
        self.dice = dice
        self.record = record
        self.on_error = on_error
        self.loops: list[SimulatedLoop] = []
        # How clients on a host authenticate to a node.
        self.channel_security: Callable[[Host, Address], ChannelSecurity] = _plaintext


class Host:
    """A simulated host: a disk and a clock, and at most one process.

    The disk outlives processes and power losses; `disk.faults` injects faults.
    """

    def __init__(self, surroundings: HostSurroundings, name: str) -> None:
        self.name = name
        self.disk = SimulatedDisk()
        self.dice = surroundings.dice.fork(name)
        self.clock = HostClock(surroundings.scheduler)
        self.loop: SimulatedLoop | None = None
        self.is_paused = False
        self.processes = 0
        self._surroundings = surroundings
        self.scheduler = surroundings.scheduler
        self._is_off = False
        # Whether a power loss during a disk call turns the host off (True) or only kills the
        # process.
        self._loses_power_fully = True
        self.disk.faults.on_power_lost = self._power_lost

    @property
    def is_running(self) -> bool:
        return self.loop is not None

    def channel_security(self, address: Address) -> ChannelSecurity:
        """How clients on this host authenticate to the node with that address."""
        return self._surroundings.channel_security(self, address)

    def start_process(self) -> SimulatedLoop:
        """Starts a process with an event loop and a network, and turns the host on."""
        assert self.loop is None, f"{self.name} is already running"
        world = self._surroundings
        if self._is_off:
            self._is_off = False
            world.neighbourhood.fabric.host_on(self.name)
        self.processes += 1
        # Methods of asyncio's loop that are not used here are not implemented; calling one raises.
        loop = SimulatedLoop(world.scheduler, self.name, world.on_error)  # type: ignore[abstract]
        world.loops.append(loop)
        loop.look = self._look
        self.loop = loop
        self.network = SimulatedNetwork(world.neighbourhood, self.name, loop)
        process_dice = self.dice.fork(f"process {self.processes}")
        self.process_dice = process_dice
        self.background = SimulatedBackground(process_dice.fork("background"), self.disk)
        return loop

    def run(self, name: str, coroutine: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
        """Runs a coroutine in the host's process."""
        assert self.loop is not None, f"{self.name} has no process"
        return self.loop.create_task(coroutine, name=name)

    def exited(self) -> None:
        """Ends a process that has exited by itself, with nothing left to do."""
        self._end_process()
        self.network.process_ended()
        self.disk.kill()

    def kill(self) -> None:
        """Ends the process at once. Its writes remain in the page cache."""
        if self.loop is not None:
            self.exited()

    def lose_power(self) -> None:
        """Turns the host off. Unsynced data may be lost."""
        if self.loop is not None:
            self._end_process()
            self.network.power_lost()
        if not self._is_off:
            self._is_off = True
            self._surroundings.neighbourhood.fabric.host_off(self.name)
        self.disk.crash(self.dice)

    def end_within(self, changes: int, *, power: bool) -> None:
        """Ends the process after this many more disk changes, in the middle of its work."""
        self._loses_power_fully = power
        self.disk.faults.power_off_after(changes)

    def forget(self) -> None:
        """Drops its process when the world ends."""
        if self.loop is not None:
            self._end_process()
        self.network.listeners.clear()
        self.network.connections.clear()

    def pause(self) -> None:
        """Stops the process, as SIGSTOP does."""
        if self.loop is not None and not self.is_paused:
            self.is_paused = True
            self.loop.pause()

    def resume(self) -> None:
        """Continues a paused process."""
        if self.loop is not None and self.is_paused:
            self.is_paused = False
            self.loop.resume()

    def _end_process(self) -> None:
        assert self.loop is not None
        self.loop.end()
        self.loop = None
        self.is_paused = False

    def _power_lost(self) -> None:
        """Stops the process at once: the disk has reached its last change."""
        if self.loop is None or self.loop.has_ended:
            return
        self.loop.end()
        self._surroundings.scheduler.call_later(0, self._after_power_lost, self.loop)

    def _after_power_lost(self, loop: SimulatedLoop) -> None:
        if self.loop is loop:
            if self._loses_power_fully:
                self.lose_power()
            else:
                self.kill()
            self.ended_by_power_loss()

    def ended_by_power_loss(self) -> None:
        """Called after the process ended by a power loss during a disk call. For subclasses."""

    def _look(self) -> None:
        """Pauses the process for as long as its disk calls had to wait."""
        waited = self.disk.faults.seconds_waited
        if waited:
            self.disk.faults.seconds_waited = 0.0
            loop = self.loop
            if loop is not None:
                loop.pause()
                self._resume_after(loop, waited)

    def _resume_after(self, loop: SimulatedLoop, left: float) -> None:
        pause = self.disk.faults.seconds_until_looked_at(left)
        if pause > 0.0:
            self.scheduler.call_later(pause, self._resume_after, loop, left - pause)
        else:
            loop.resume()
