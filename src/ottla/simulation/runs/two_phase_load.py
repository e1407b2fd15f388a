"""The queries of a run: drivers and executors that are killed, paused and replaced at any step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ottla.model import TopicPartition
from ottla.simulation.claims.transactional_logs import (
    open_partitions,
    record_hanging,
    rows_of_replicas,
)
from ottla.simulation.clients.two_phase_client import JOURNAL, QueryCheckpoint, SimulatedQuery
from ottla.simulation.clients.two_phase_driver import SimulatedDriver
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.history import Fault
from ottla.simulation.history.two_phase_events import OutputHas
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World
from ottla.wire.records.murmur2 import murmur2

SUNK: Final = "sunk"
OUTPUTS: Final = 2
# Of the journal, if the simulation creates it.
JOURNAL_PARTITIONS: Final = 2
JOURNAL_CONFIGS: Final = {"cleanup.policy": "compact"}
_EXECUTORS: Final = 2
_DRIVER_PROBABILITY: Final = 0.1
_EXECUTOR_PROBABILITY: Final = 0.02
_DELAY_MICROSECONDS: Final = 3_000
_MOMENT_SECONDS: Final = 1e-6
_PAUSE_MS: Final = (200, 9_000)
_SUCCESSION_MS_MAX: Final = 1_500
_QUIET_MS: Final = (2_000, 10_000)
_UNREACHABLE_MS_MAX: Final = 5_000


class TwoPhaseLoad:
    """Queries that write to one topic. After `end` they finish their batches only; after `stop`
    all processes are killed."""

    def __init__(self, world: World, cluster: SimulatedCluster, *, queries: int) -> None:
        self.world = world
        self.cluster = cluster
        self.is_over = False
        self.partitions = [TopicPartition(SUNK, index) for index in range(OUTPUTS)]
        self._queries = [_Query(self, f"query-{number}") for number in range(1, queries + 1)]

    def start(self) -> None:
        for query in self._queries:
            query.start()

    def end(self) -> None:
        self.is_over = True

    def stop(self) -> None:
        for query in self._queries:
            query.stop()

    def reasons(self) -> Iterator[str]:
        """What is missing: batches that are not committed, and open transactions."""
        for query in self._queries:
            if query.checkpoint.committed < query.checkpoint.planned:
                yield f"{query.name} has not committed batch {query.checkpoint.committed}"
        for partition, stable, high in open_partitions(self.cluster):
            yield f"{partition} has an open transaction at {stable}, and ends at {high}"

    def record_end(self) -> None:
        record_hanging(self.world.record, self.cluster)
        for node, partition, rows in rows_of_replicas(self.cluster, SUNK):
            self.world.record(OutputHas(node, partition, rows))


class _Query:
    """The processes of one query."""

    def __init__(self, load: TwoPhaseLoad, name: str) -> None:
        self.name = name
        self.checkpoint = QueryCheckpoint()
        self._load = load
        self._world = world = load.world
        self._dice: SeededDice = world.dice.fork(name)
        self._executors = [
            world.host(f"executor-{number} of {name}") for number in range(1, _EXECUTORS + 1)
        ]
        self._drivers: list[Host] = []
        self._query = SimulatedQuery(
            name,
            load.partitions,
            load.cluster.bootstrap,
            world.record,
            self.checkpoint,
            self._step,
        )

    def start(self) -> None:
        self._succeed()
        self._world.here.run("journal", self._hide_journal())

    def stop(self) -> None:
        for host in (*self._drivers, *self._executors):
            host.kill()

    def _succeed(self) -> None:
        """Starts another driver."""
        host = self._world.host(f"driver-{len(self._drivers) + 1} of {self.name}")
        self._drivers.append(host)
        driver = SimulatedDriver(
            host,
            self._query,
            self._executors,
            is_wanted=lambda: self._drivers[-1] is host,
            is_over=lambda: self._load.is_over,
        )
        host.run("drive", driver.run())

    async def _step(self, host: Host) -> None:
        """Sometimes kills or pauses the process, at this step or within the next requests."""
        is_driver = host in self._drivers
        probability = _DRIVER_PROBABILITY if is_driver else _EXECUTOR_PROBABILITY
        if not self._load.is_over and self._dice.chance(probability):
            is_now = self._dice.chance(0.5)
            seconds = 0.0 if is_now else self._dice.below(_DELAY_MICROSECONDS) / 1e6
            self._world.scheduler.call_later(seconds, self._end, host, host.processes)
            if is_now:
                await host.clock.sleep(_MOMENT_SECONDS)

    def _end(self, host: Host, process: int) -> None:
        if self._load.is_over or not host.is_running or host.processes != process:
            return
        scheduler, dice = self._world.scheduler, self._dice
        if dice.chance(0.5):
            self._world.record(Fault(host.name, "dies"))
            host.kill()
        else:
            self._world.record(Fault(host.name, "is paused"))
            host.pause()
            low, high = _PAUSE_MS
            scheduler.call_later(dice.between(low=low, high=high) / 1_000, host.resume)
        if self._drivers[-1] is host:
            # Starts as a task of the story, because the host that it needs is made then.
            scheduler.call_later(dice.below(_SUCCESSION_MS_MAX) / 1_000, self._succeed)

    async def _hide_journal(self) -> None:
        """Sometimes the query's processes cannot reach the leader of their journal."""
        world, dice = self._world, self._dice.fork("journal")
        low, high = _QUIET_MS
        while not self._load.is_over:
            await world.sleep(dice.between(low=low, high=high) / 1_000)
            leader = self._journal_leader()
            if leader is None or self._load.is_over:
                continue
            hosts = [self._drivers[-1].name, *(host.name for host in self._executors)]
            world.record(Fault(self.name, f"cannot reach {leader}"))
            for host in hosts:
                world.fabric.cut(host, leader)
                world.fabric.cut(leader, host)
            await world.sleep(dice.below(_UNREACHABLE_MS_MAX) / 1_000)
            for host in hosts:
                world.fabric.heal(host, leader)
                world.fabric.heal(leader, host)

    def _journal_leader(self) -> str | None:
        for node in self._load.cluster.nodes:
            broker = self._load.cluster.observer(node).broker
            topics = () if broker is None else broker.cluster.image.topics
            for topic in topics:
                if topic.name == JOURNAL:
                    index = murmur2(self.name.encode()) % len(topic.partitions)
                    leader = self._load.cluster.leader_of(JOURNAL, index)
                    return None if leader is None else leader.name
        return None
