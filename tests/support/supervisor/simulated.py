"""Supervisors in a simulated world: the real group, shards and writers, with counted children.

A child outlives its supervisor, as the worst of real ones: it runs until its lease expires, or
until it is stopped or killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ottla.client import ClientSeams
from ottla.client.errors import ClientError
from ottla.simulation import SimulatedCluster, World
from ottla.simulation.world.host import Host
from ottla.web.supervisor.model.deployment import Deployment
from ottla.web.supervisor.model.lifecycle import Exit, PipelineTarget
from ottla.web.supervisor.running.shard import NotOwnerError
from ottla.web.supervisor.running.shard_members import ShardMembers
from ottla.web.supervisor.storing.pipeline_topic import PipelineTopic

TOPIC = "pipelines"
PARTITIONS = 3
_LOOK_S = 0.2
_PROPERTIES = {
    "request.timeout.ms": 2_000,
    "socket.connection.setup.timeout.ms": 2_000,
    "metadata.max.age.ms": 10_000,
    "retry.backoff.ms": 50,
    "retry.backoff.max.ms": 500,
    "reconnect.backoff.max.ms": 500,
}


class CountedChild:
    """Alive until `until`, by the clock of its host, which its supervisor may extend."""

    def __init__(self, host: Host, name: str, epoch: int, until: float) -> None:
        self.name = name
        self.epoch = epoch
        self.progress: Mapping[str, Any] = {}
        self._host = host
        self._until = until
        # When it has ended by itself, or was stopped.
        self._end = float("inf")

    @property
    def is_alive(self) -> bool:
        return self._host.clock.monotonic() < min(self._until, self._end)

    def renew(self, until: float) -> None:
        if self.is_alive:
            self._until = until

    def end_in(self, seconds: float) -> None:
        self._end = min(self._end, self._host.clock.monotonic() + seconds)

    def stop(self) -> None:
        self.end_in(self._host.dice.below(4_000) / 1_000)

    def kill(self) -> None:
        self.end_in(0)

    async def ended(self) -> Exit:
        while self.is_alive:
            await self._host.clock.sleep(_LOOK_S)
        return Exit(is_failure=True, reason="it has ended")


class Evidence:
    """All children of a world. The claims: no pipeline runs twice, and none is forgotten."""

    def __init__(self) -> None:
        self.children: list[CountedChild] = []
        self.violations: list[str] = []
        self._epochs: dict[str, int] = {}

    def start(self, child: CountedChild) -> None:
        for other in self.alive(child.name):
            self.violations.append(
                f"{child.name} runs twice: epoch {child.epoch} beside {other.epoch}"
            )
        if child.epoch <= self._epochs.get(child.name, 0):
            self.violations.append(f"{child.name} has the epoch {child.epoch} twice")
        self._epochs[child.name] = child.epoch
        self.children.append(child)

    def alive(self, name: str) -> list[CountedChild]:
        return [each for each in self.children if each.name == name and each.is_alive]


class SimulatedSupervisor:
    """On a host of its own. `run` never returns."""

    def __init__(self, host: Host, cluster: SimulatedCluster, evidence: Evidence) -> None:
        self.host = host
        self._evidence = evidence
        self._cluster = cluster
        self.members: ShardMembers | None = None

    async def start(self, deployment: Deployment, epoch: int, until: float) -> CountedChild:
        child = CountedChild(self.host, deployment.name, epoch, until)
        self._evidence.start(child)
        return child

    async def run(self) -> None:
        host = self.host
        properties = {
            **_PROPERTIES,
            "bootstrap.servers": [str(address) for address in self._cluster.bootstrap],
        }
        seams = ClientSeams(host.clock, host.network, host.dice.fork(f"client {host.processes}"))
        topic = PipelineTopic(TOPIC, properties, seams, partitions=PARTITIONS)
        while True:
            try:
                await topic.start()
                break
            except ClientError:
                await host.clock.sleep(1)
        members = ShardMembers("supervisors", properties, seams, topic, self)
        await members.start(worker=host.name, scheme="http", host=host.name, port=8083)
        self.members = members
        while True:
            await host.clock.sleep(1_000)

    async def deploy(self, deployment: Deployment) -> bool:
        """Whether it is deployed for certain."""
        shard = None if self.members is None else self.members.shard_of(deployment.name)
        if shard is None or not shard.is_claimed:
            return False
        try:
            await shard.deploy(deployment, "deployed")
        except (NotOwnerError, ClientError):
            return False
        return True


def deployment(number: int) -> Deployment:
    return Deployment(
        name=f"pipeline-{number}",
        config={"file": "a.py"},
        digest="",
        version=1,
        target=PipelineTarget.RUNNING,
    )


async def trouble(
    world: World, cluster: SimulatedCluster, supervisors: list[SimulatedSupervisor], count: int
) -> None:
    """Faults of nodes and supervisors, each healed before the next."""
    dice = world.dice.fork("trouble")
    for _ in range(count):
        await world.sleep(dice.below(6_000) / 1_000)
        seconds = dice.below(25_000) / 1_000
        victim = dice.choice(supervisors)
        match dice.below(6):
            case 0:
                node = dice.choice(cluster.nodes)
                node.kill()
                await world.sleep(min(seconds, 8))
                node.start()
            case 1:
                cluster.isolate(dice.choice(cluster.nodes).id)
                await world.sleep(min(seconds, 8))
                cluster.heal_network()
            case 2:
                victim.host.kill()
                await world.sleep(seconds)
                victim.host.start_process()
                victim.host.run("supervisor", victim.run())
            case 3:
                victim.host.pause()
                await world.sleep(seconds)
                victim.host.resume()
            case 4:
                victim.host.clock.jump(dice.between(low=-3_600_000, high=3_600_000))
            case _:
                isolate(world, victim.host)
                await world.sleep(seconds)
                world.fabric.heal_all()


def isolate(world: World, host: Host) -> None:
    for other in world.host_names:
        if other != host.name:
            world.fabric.cut(host.name, other)
            world.fabric.cut(other, host.name)
