"""Several replicas of the metadata in one process: simulated disks, one clock, links by hand.

What replicas say to each other goes through its bytes. A link can be cut, which loses what is on
its way in either direction. Nothing happens unless `SimulatedQuorum.until` lets time pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar, TypeVarTuple, cast

from ottla.channels import ChannelError
from ottla.controller.controller import Controller
from ottla.controller.formatting import format_directory, initial_voter
from ottla.controller.metadata_log import MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.quorum import MetadataQuorum
from ottla.controller.quorum_seams import Seams
from ottla.metadata import MetadataImage
from ottla.model import NodeId
from ottla.raft import Destination, RaftConfig, ReplicaKey, VoterEndpoint, VoterSet
from ottla.runtime.background import InlineBackground
from ottla.runtime.clock import Clock
from ottla.runtime.tasks import Tasks
from ottla.simulation import SeededDice, SimulatedDisk
from ottla.simulation.disk.disk_faults import PowerLost
from ottla.simulation.seams.clock import SimulatedClock
from ottla.storage.files.file_slice import FileSlice
from ottla.wire.requests import decode_request, decode_response, encode_request, encode_response
from ottla.wire.schema import Message
from tests.support.controller.cluster_images import CLUSTER_ID, node_config, uuid
from tests.support.controller.simulated_controllers import DIRECTORY
from tests.support.storage.held_background import settle

T = TypeVar("T")
Arguments = TypeVarTuple("Arguments")

_FIRST_PORT = 9000
PATIENCE_SECONDS = 60.0


def endpoint(node_id: int) -> VoterEndpoint:
    return VoterEndpoint("CONTROLLER", f"n{node_id}", _FIRST_PORT + node_id)


def voter_set(*node_ids: int) -> VoterSet:
    return VoterSet.of(
        initial_voter(node_id, uuid(500 + node_id), endpoint(node_id)) for node_id in node_ids
    )


class SlowBackground(InlineBackground):
    """Takes its time, so that other things happen during a flush."""

    def __init__(self, clock: Clock, dice: SeededDice) -> None:
        self._clock = clock
        self._dice = dice

    def run(  # type: ignore[override]
        self, function: Callable[[*Arguments], T], *arguments: *Arguments
    ) -> Awaitable[T]:
        return self._run(function, *arguments)

    async def _run(self, function: Callable[[*Arguments], T], *arguments: *Arguments) -> T:
        await self._clock.sleep(self._dice.below(5) / 1_000)
        return function(*arguments)


class Replica:
    """A process on a host: made over its disk, over when `stop` or `crash` is."""

    def __init__(self, world: SimulatedQuorum, node_id: int) -> None:
        self.id = node_id
        self.disk = world.disks[node_id]
        self.errors: list[BaseException] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        background = SlowBackground(world.clock, world.dice.fork(f"flushes {node_id}"))
        dice = world.dice.fork(f"replica {node_id} {world.starts}")
        seams = Seams(self.disk, world.clock, dice, background, self.tasks)
        loaded = open_metadata_log(
            self.disk, DIRECTORY, world.log_config, now_ms=world.clock.now_ms()
        )
        config = RaftConfig(
            cluster_id=CLUSTER_ID,
            local=ReplicaKey(node_id, uuid(500 + node_id)),
            endpoints=(endpoint(node_id),),
        )
        config = replace(config, **world.raft_options)
        self.quorum = MetadataQuorum(seams, loaded, config, _Line(world, self))
        self.controller = Controller(
            seams, self.quorum, cluster_id=CLUSTER_ID, node=node_config(node_id=str(node_id))
        )

    @property
    def is_active(self) -> bool:
        return self.controller.is_active

    @property
    def image(self) -> MetadataImage:
        return self.quorum.metadata.image

    @property
    def topics(self) -> set[str]:
        return set(self.image.topics.by_name)

    async def answer(self, request: Message) -> Message | None:
        """None where a connection would have ended."""
        try:
            return await self.quorum.handle(request)
        except (ConnectionAbortedError, PowerLost):
            return None

    @property
    def has_lost_power(self) -> bool:
        return any(isinstance(each, PowerLost) for each in (self.quorum.failure, *self.errors))


class _Line:
    """What one replica sends to the others."""

    def __init__(self, world: SimulatedQuorum, sender: Replica) -> None:
        self._world = world
        self._sender = sender
        self._is_closed = False

    def close(self) -> None:
        self._is_closed = True

    async def send(self, destination: Destination, request: Message) -> Message:
        world, name = self._world, type(request).__name__
        version = type(request).versions.highest
        parts = encode_request(request, version, correlation_id=1, client_id="test")
        target_id = destination.port - _FIRST_PORT
        await self._pass(target_id)
        target = world.replicas.get(target_id)
        if target is None or self._is_closed:
            raise ChannelError(f"{name} cannot be sent: node {target_id} is down")
        world.sent.append((self._sender.id, target_id, name))
        _, received = decode_request(b"".join(parts)[4:])
        task = target.tasks.start(name, target.answer(received))
        await asyncio.wait([task])
        response = None if task.cancelled() else task.result()
        if response is None:
            raise ChannelError(f"{name} has no answer of node {target_id}")
        answer = b"".join(
            part.read() if isinstance(part, FileSlice) else bytes(cast(Any, part))
            for part in encode_response(cast(Message, response), version, correlation_id=1)
        )
        await self._pass(target_id)
        assert request.api_key is not None
        return decode_response(answer[4:], request.api_key, version)[1]

    async def _pass(self, target_id: int) -> None:
        world = self._world
        await world.clock.sleep(world.dice.below(3) / 1_000)
        if self._is_closed or frozenset((self._sender.id, target_id)) in world.cuts:
            raise ChannelError(f"node {target_id} is not reached")


class SimulatedQuorum:
    """Disks that outlive processes, and the replicas on them. Inside a running loop."""

    def __init__(
        self,
        *node_ids: int,
        seed: int = 1,
        log_config: MetadataLogConfig | None = None,
        **raft_options: Any,
    ) -> None:
        self.clock = SimulatedClock()
        self.dice = SeededDice(seed)
        self.disks = {node_id: SimulatedDisk() for node_id in node_ids}
        self.replicas: dict[int, Replica] = {}
        self.cuts: set[frozenset[int]] = set()
        # Who sent what to whom.
        self.sent: list[tuple[int, int, str]] = []
        self.log_config = log_config or MetadataLogConfig()
        self.raft_options = raft_options
        self.starts = 0
        for node_id, disk in self.disks.items():
            format_directory(
                disk,
                DIRECTORY,
                cluster_id=CLUSTER_ID,
                node_id=NodeId(node_id),
                directory_id=uuid(500 + node_id),
                voters=voter_set(*node_ids),
                now_ms=self.clock.now_ms(),
            )

    # ---- processes

    def start(self, *node_ids: int) -> None:
        for node_id in node_ids or self.disks:
            assert node_id not in self.replicas
            self.starts += 1
            replica = self.replicas[node_id] = Replica(self, node_id)
            replica.quorum.start(replica.controller)

    async def crash(self, node_id: int, *, with_power: bool = False) -> None:
        """Ends a process as SIGKILL does or, `with_power`, as a host does that loses its power."""
        replica = self.replicas.pop(node_id)
        replica.quorum.fail(RuntimeError("it crashed"))
        await replica.tasks.close()
        if with_power:
            replica.disk.crash(self.dice)
        else:
            replica.disk.kill()

    async def stop(self, node_id: int) -> None:
        """Ends a process cleanly."""
        replica = self.replicas[node_id]
        await self.do(replica.quorum.close())
        del self.replicas[node_id]
        await replica.tasks.close()
        replica.disk.kill()

    async def end(self) -> None:
        for node_id in list(self.replicas):
            await self.crash(node_id)

    # ---- links

    def isolate(self, node_id: int) -> None:
        self.cuts |= {frozenset((node_id, other)) for other in self.disks if other != node_id}

    def heal(self) -> None:
        self.cuts.clear()

    # ---- time

    async def until(self, is_so: Callable[[], object]) -> None:
        """Lets time pass, from one thing that happens to the next, until something is so."""
        deadline = self.clock.monotonic() + PATIENCE_SECONDS
        await settle()
        while not is_so():
            next_deadline = self.clock.next_deadline()
            assert next_deadline is not None, "nothing will ever happen"
            assert next_deadline < deadline, "it does not happen"
            # Who has lost power is out of the story, which goes on without it.
            with suppress(PowerLost):
                self.clock.advance(next_deadline - self.clock.monotonic())
            await settle()

    async def pass_time(self, seconds: float) -> None:
        """As much as that, whatever happens."""
        end = self.clock.monotonic() + seconds
        self.clock.call_later(seconds, lambda: None)
        await self.until(lambda: self.clock.monotonic() >= end)

    async def do(self, doing: Awaitable[T]) -> T:
        """Lets time pass until something is done."""
        task = asyncio.ensure_future(doing)
        await self.until(task.done)
        return task.result()

    # ---- facts

    @property
    def active(self) -> list[Replica]:
        return [replica for replica in self.replicas.values() if replica.is_active]

    async def wait_active(self) -> Replica:
        """The one controller of the latest epoch, once it is active."""

        def latest() -> list[Replica]:
            epochs = [each.quorum.leader_and_epoch.epoch for each in self.replicas.values()]
            return [
                each for each in self.active if each.quorum.leader_and_epoch.epoch == max(epochs)
            ]

        await self.until(latest)
        return latest()[0]

    async def wait_caught_up(self) -> None:
        """Until all that run show the same, and that is everything in the log of the leader."""

        def are_even() -> bool:
            ends = {each.quorum.metadata.end_offset for each in self.replicas.values()}
            ends |= {each.quorum.log.log_end_offset for each in self.replicas.values()}
            return len(ends) == 1

        await self.wait_active()
        await self.until(are_even)
