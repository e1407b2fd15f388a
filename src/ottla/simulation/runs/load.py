"""The producers, consumers and group members that run while faults are injected."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, NamedTuple

from ottla.client.errors import ClientError
from ottla.model import TopicPartition
from ottla.simulation.clients import SimulatedConsumer, SimulatedProducer
from ottla.simulation.clients.classic_member import SimulatedClassicMember
from ottla.simulation.clients.consumer_member import SimulatedConsumerMember
from ottla.simulation.clients.group_member import GroupMember, MemberProgress
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.faults.fault_plan import Plan
from ottla.simulation.runs.checked_load import CheckedLoad
from ottla.simulation.runs.delay_load import DelayLoad
from ottla.simulation.runs.deletion_load import SHELF_PARTITION, DeletionLoad
from ottla.simulation.runs.share_load import ShareLoad
from ottla.simulation.runs.tenant_load import TenantLoad
from ottla.simulation.runs.transaction_load import TransactionLoad
from ottla.simulation.runs.two_phase_load import TwoPhaseLoad
from ottla.simulation.world.host import Host
from ottla.simulation.world.world import World

_PAUSES_MS: Final = (300, 800, 2_000)
# Factor for longer pauses when there is little load.
_CALM_PACE: Final = 8
# How often producers that are held check whether they may continue.
_HELD_SECONDS: Final = 0.5
_REFUSED_SECONDS: Final = 0.1
_BURST_PROBABILITY: Final = 0.3
_RECORDS_MAX: Final = 4


class _Group(NamedTuple):
    name: str
    progress: MemberProgress
    members: Sequence[GroupMember]


class SimulatedLoad:
    """All clients of a run, each on its own host. After `end` producers send nothing new until
    `go_on`; after `stop` all clients are killed.
    """

    def __init__(self, world: World, cluster: SimulatedCluster, topic: str, plan: Plan) -> None:
        self._world = world
        self.partitions = [TopicPartition(topic, index) for index in range(plan.partitions)]
        self._under_way = plan.under_way
        self._is_over = False
        self._pace = plan.pace
        self._writing: dict[bytes, str] = {}
        self._hosts: list[Host] = []
        self._written: dict[TopicPartition, int] = dict.fromkeys(self.partitions, 0)
        self._producers = [
            (host := self._host(f"producer-{number}"), cluster.producer(host.name, host=host))
            for number in range(1, plan.producers + 1)
        ]
        self._consumers = [
            (
                host := self._host(f"consumer-{index}"),
                cluster.consumer(topic, index, name=host.name, host=host),
            )
            for index in range(plan.partitions)
        ]

        self._groups = self._make_groups(world, cluster, plan)
        self._deletions = self._deletion_load(world, cluster, plan)
        self._delays = self._delay_load(world, cluster, plan)
        self._tenants = TenantLoad(world, cluster, self._host) if plan.has_tenants else None
        self._shares = ShareLoad(
            world,
            cluster,
            topic,
            self._written,
            self._host,
            members=plan.share_members,
            is_over=lambda: self._is_over,
        )
        self.checked: CheckedLoad | None = None
        if plan.checked:
            self.checked = CheckedLoad(
                world,
                cluster,
                self._host,
                producers=plan.checked,
                under_way=plan.under_way,
                pace=plan.pace,
                is_over=lambda: self._is_over,
            )
        self.copies: TransactionLoad | None = None
        if plan.copiers:
            self.copies = TransactionLoad(
                world,
                cluster,
                self.partitions,
                self._written,
                # Each copier needs at least one partition.
                copiers=min(plan.copiers, plan.partitions),
            )

        self.queries: TwoPhaseLoad | None = None
        if plan.queries:
            self.queries = TwoPhaseLoad(world, cluster, queries=plan.queries)

    def _delay_load(self, world: World, cluster: SimulatedCluster, plan: Plan) -> DelayLoad | None:
        if not plan.has_delays:
            return None
        return DelayLoad(world, cluster, self._host, is_over=lambda: self._is_over)

    def _deletion_load(
        self, world: World, cluster: SimulatedCluster, plan: Plan
    ) -> DeletionLoad | None:
        if not plan.has_deletions:
            return None
        return DeletionLoad(
            world,
            cluster,
            self._host,
            is_durable=plan.is_durable,
            is_over=lambda: self._is_over,
        )

    def _make_groups(self, world: World, cluster: SimulatedCluster, plan: Plan) -> list[_Group]:
        return [
            _Group(
                f"{protocol.__name__} group",
                progress := MemberProgress(),
                [
                    protocol(
                        host := self._host(f"member-{protocol.__name__}-{number}"),
                        cluster.bootstrap,
                        world.record,
                        progress,
                        group=f"{protocol.__name__} group",
                        partitions=self.partitions,
                        name=host.name,
                    )
                    for number in range(1, count + 1)
                ],
            )
            for protocol, count in (
                (SimulatedConsumerMember, plan.members),
                (SimulatedClassicMember, plan.classic_members),
            )
            if count
        ]

    @property
    def all_partitions(self) -> list[TopicPartition]:
        """All partitions that are written to, directly, by copiers or by queries."""
        found = list(self.partitions)
        for load in self._transactional:
            found += load.partitions
        if self.checked is not None:
            found += self.checked.all_partitions
        return found + ([] if self._deletions is None else [SHELF_PARTITION])

    @property
    def _transactional(self) -> list[TransactionLoad | TwoPhaseLoad]:
        return [load for load in (self.copies, self.queries) if load is not None]

    def start(self) -> None:
        for group in self._groups:
            for member in group.members:
                member.host.run("member", member.run())
        self._shares.start()
        if self._tenants is not None:
            self._tenants.start()
        if self._deletions is not None:
            self._deletions.start()
        if self._delays is not None:
            self._delays.start()
        if self.checked is not None:
            self.checked.start()
        for host, producer in self._producers:
            for partition in self.partitions:
                host.run("produce", self._produce(host, producer, partition))
        for host, consumer in self._consumers:
            host.run("consume", _consume(consumer))
        for load in self._transactional:
            load.start()

    def end(self) -> None:
        self._is_over = True
        if self._tenants is not None:
            self._tenants.end()
        for load in self._transactional:
            load.end()

    def go_on(self) -> None:
        """Lets producers continue, with longer pauses."""
        self._is_over = False
        self._pace *= _CALM_PACE

    def record_end(self) -> None:
        for load in self._transactional:
            load.record_end()
        if self._deletions is not None:
            self._deletions.record_end()
        if self._delays is not None:
            self._delays.record_end()
        if self.checked is not None:
            self.checked.record_end()

    def stop(self) -> None:
        for load in self._transactional:
            load.stop()
        for host in self._hosts:
            host.kill()

    def reasons(self) -> list[str]:
        """What is missing until everything sent is acknowledged, read and committed."""
        found = list(self._writing.values())
        for _, consumer in self._consumers:
            if consumer.position < self._written[consumer.partition]:
                found.append(
                    f"{consumer.name} has read {consumer.position} of "
                    f"{self._written[consumer.partition]} in {consumer.partition}"
                )
        for group in self._groups:
            for partition, written in self._written.items():
                committed = group.progress.committed.get(partition, 0)
                if committed < written:
                    found.append(
                        f"{group.name} has committed {committed} of {written} in {partition}"
                    )
        found += self._shares.reasons()
        if self.checked is not None:
            found += self.checked.reasons()
        for load in self._transactional:
            found += load.reasons()
        if self._deletions is not None:
            found += self._deletions.reasons()
        if self._delays is not None:
            found += self._delays.reasons()
        return found

    async def _produce(
        self, host: Host, producer: SimulatedProducer, partition: TopicPartition
    ) -> None:
        dice = host.dice.fork(str(partition))
        pause_ms_max, number = dice.choice(_PAUSES_MS), 0
        room = asyncio.Semaphore(self._under_way)
        while True:
            if self._is_over:
                await host.clock.sleep(_HELD_SECONDS)
                continue
            count = dice.between(low=1, high=_RECORDS_MAX)
            values = [
                f"{producer.name}/{partition.partition}/{number + at}".encode()
                for at in range(count)
            ]
            number += count
            await room.acquire()
            host.run("send", self._send(host, producer, partition, values, room))
            if not dice.chance(_BURST_PROBABILITY):
                pause_ms = dice.between(low=1, high=pause_ms_max)
                await host.clock.sleep(self._pace * pause_ms / 1_000)

    async def _send(
        self,
        host: Host,
        producer: SimulatedProducer,
        partition: TopicPartition,
        values: list[bytes],
        room: asyncio.Semaphore,
    ) -> None:
        self._writing[values[0]] = f"{producer.name} waits for {values[0]!r}"
        try:
            offset = await producer.send(partition, *values)
        except ClientError:
            # Refused. An administrator may allow again what is refused now.
            await host.clock.sleep(_REFUSED_SECONDS)
        else:
            self._written[partition] = max(self._written[partition], offset + len(values))
        del self._writing[values[0]]
        room.release()

    def _host(self, name: str) -> Host:
        host = self._world.host(name)
        self._hosts.append(host)
        return host


async def _consume(consumer: SimulatedConsumer) -> None:
    while True:
        await consumer.poll()
