"""The transactional load of a run: copiers that are replaced while they run, and readers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.claims.coordinator_states import record_differences
from ottla.simulation.claims.transactional_logs import (
    open_partitions,
    record_decisions,
    record_group_log,
    record_group_offsets,
    record_hanging,
    record_logs,
)
from ottla.simulation.clients.copier import TRANSACTION_TIMEOUT_MS, Copier, CopyTask, copy_of
from ottla.simulation.clients.group_member import MemberProgress
from ottla.simulation.clients.transactional_producer import (
    RefusedError,
    SimulatedTransactionalProducer,
)
from ottla.simulation.clients.transactional_reader import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    TransactionalReader,
)
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.history import Fault
from ottla.simulation.history.transaction_events import TransactionBegun
from ottla.simulation.seams.dice import SeededDice
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World

COPIES: Final = "copies"
GROUP: Final = "copiers"
OUTPUTS: Final = 2
_QUIET_MS: Final = (2_000, 12_000)
_ABSENT_MS_MAX: Final = 9_000
_OVERLAP_MS_MAX: Final = 2_000


class TransactionLoad:
    """Transactional clients, each copier on its own host. After `end` copiers only finish; after
    `stop` all clients are killed.
    """

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        inputs: Sequence[TopicPartition],
        written: Mapping[TopicPartition, int],
        *,
        copiers: int,
    ) -> None:
        """`written` is the acknowledged end of each input partition."""
        self._world = world
        self._cluster = cluster
        self._inputs = list(inputs)
        self._written = written
        self._progress = MemberProgress()
        self._is_over = False
        self.partitions = [TopicPartition(COPIES, index) for index in range(OUTPUTS)]
        self._readers_host = world.host("transaction readers")
        self._readers = [
            TransactionalReader(
                self._readers_host,
                cluster.bootstrap,
                world.record,
                partition,
                isolation_level=level,
                name=f"{name}-{partition.partition}",
            )
            for level, name in ((READ_COMMITTED, "committed"), (READ_UNCOMMITTED, "uncommitted"))
            for partition in self.partitions
        ]
        self._succession = [
            _Succession(self, f"copier-{number}", self._inputs[number - 1 :: copiers])
            for number in range(1, copiers + 1)
        ]

    @property
    def is_over(self) -> bool:
        return self._is_over

    def start(self) -> None:
        for reader in self._readers:
            self._readers_host.run("read", _read(reader))
        for succession in self._succession:
            succession.start()

    def end(self) -> None:
        self._is_over = True

    def stop(self) -> None:
        self._readers_host.kill()
        for succession in self._succession:
            succession.stop()

    def reasons(self) -> Iterator[str]:
        """What is missing: input that is not copied, open transactions, output that is not read."""
        for partition in self._inputs:
            committed, written = (
                self._progress.committed.get(partition, 0),
                self._written[partition],
            )
            if committed < written:
                yield f"{GROUP} have committed {committed} of {written} in {partition}"
        for partition, stable, high in open_partitions(self._cluster):
            yield f"{partition} has an open transaction at {stable}, and ends at {high}"
        for reader in self._readers:
            end = self._end_of(reader.partition)
            if end is None or reader.position < end:
                yield f"{reader.name} has read {reader.position} of {end} in {reader.partition}"

    def record_end(self) -> None:
        """Records the final state of the transactional logs, groups and coordinators."""
        record_hanging(self._world.record, self._cluster)
        record_logs(self._world.record, self._cluster, COPIES)
        record_decisions(self._world.record, self._cluster)
        record_group_log(self._world.record, self._cluster, GROUP)
        record_group_offsets(self._world.record, self._cluster, GROUP)
        record_differences(self._world.record, self._cluster)

    def copier(self, name: str, task_id: str, inputs: Sequence[TopicPartition]) -> Host:
        """Starts another process that copies these partitions with this transactional id."""
        host = self._world.host(name)
        succession = next(each for each in self._succession if each.transactional_id == task_id)
        copier = Copier(
            host,
            self.bootstrap,
            self._world.record,
            CopyTask(task_id, GROUP, inputs, self.partitions),
            self._progress,
            is_wanted=lambda: succession.current is host,
            is_over=lambda: self._is_over,
        )
        host.run("copy", copier.run())
        return host

    @property
    def world(self) -> World:
        return self._world

    @property
    def bootstrap(self) -> list[Address]:
        return self._cluster.bootstrap

    def _end_of(self, partition: TopicPartition) -> int | None:
        leader = self._cluster.leader_of(*partition)
        replica = None if leader is None else self._cluster.replica_of(leader, partition)
        return None if replica is None or replica.log is None else replica.log.high_watermark


class _Succession:
    """The processes that use one transactional id, one after the other or concurrently."""

    def __init__(
        self, load: TransactionLoad, transactional_id: str, inputs: Sequence[TopicPartition]
    ) -> None:
        self.transactional_id = transactional_id
        self.current: Host | None = None
        self._load = load
        self._inputs = inputs
        self._hosts: list[Host] = []
        self._dice: SeededDice = load.world.dice.fork(transactional_id)

    def start(self) -> None:
        self._succeed()
        self._load.world.here.run("succeed", self._disturb())

    def stop(self) -> None:
        for host in self._hosts:
            host.kill()

    def _succeed(self) -> None:
        # Set before the copier runs, so that `is_wanted` is true for it.
        number = len(self._hosts) + 1
        name = f"{self.transactional_id}.{number}"
        host = self._load.copier(name, self.transactional_id, self._inputs)
        self.current = host
        self._hosts.append(host)

    async def _disturb(self) -> None:
        world, dice = self._load.world, self._dice
        low, high = _QUIET_MS
        while True:
            await world.sleep(dice.between(low=low, high=high) / 1_000)
            if self._load.is_over:
                return
            before = self.current
            kind = dice.choice(("dies", "is paused", "is replaced", "leaves a transaction open"))
            assert before is not None
            world.record(Fault(before.name, kind))
            if kind == "dies":
                before.kill()
            elif kind == "is paused":
                before.pause()
            elif kind != "is replaced":
                self._leave_open()
                continue
            await world.sleep(dice.between(low=0, high=_OVERLAP_MS_MAX) / 1_000)
            self._succeed()
            await world.sleep(dice.between(low=0, high=_ABSENT_MS_MAX) / 1_000)
            if before.is_paused:
                before.resume()
                world.record(Fault(before.name, "resumes"))

    def _leave_open(self) -> None:
        """Starts a producer that begins a transaction and never ends it."""
        world, number = self._load.world, len(self._hosts) + 1
        host = world.host(f"{self.transactional_id}.{number}")
        self._hosts.append(host)
        producer = SimulatedTransactionalProducer(
            host,
            self._load.bootstrap,
            world.record,
            transactional_id=host.name,
            group=GROUP,
            timeout_ms=TRANSACTION_TIMEOUT_MS,
            is_v2=self._dice.chance(0.5),
            name=host.name,
        )
        target = self._dice.choice(self._load.partitions)
        host.run("begin", self._begin(producer, target))

    async def _begin(
        self, producer: SimulatedTransactionalProducer, target: TopicPartition
    ) -> None:
        # A transaction that takes too long is aborted before its record is written.
        with suppress(RefusedError):
            await producer.initialize()
            name = f"{producer.name}/1"
            ids = (producer.transactional_id, producer.producer_id, producer.producer_epoch)
            self._load.world.record(TransactionBegun(producer.name, name, *ids))
            await producer.write(target, [copy_of(name, target, 0)])


async def _read(reader: TransactionalReader) -> None:
    while True:
        await reader.poll()
