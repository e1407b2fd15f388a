"""A member of a consumer group: reads what it is assigned, and commits how far it came.

Membership itself is the subclasses': the new protocol (consumer_member.py) and the classic one
(classic_member.py). Every partition that is assigned is read from what the group has committed, by
a reader of its own, until it is taken away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.clients.group_coordinator import GroupCoordinator
from ottla.simulation.history import Event, GroupCommitted, GroupOwns, GroupResumed
from ottla.simulation.host import Host


class Progress:
    """How far a group has come for certain, as the world knows it: what was told to be taken."""

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, int] = {}


class GroupMember:
    """Belongs to the process of its host. `run` never ends by itself."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        progress: Progress,
        *,
        group: str,
        partitions: Sequence[TopicPartition],
        name: str,
    ) -> None:
        """The partitions are all those of the topic that the group reads."""
        self.name = name
        self.topic = partitions[0].topic
        self.partitions = list(partitions)
        self.member_id = ""
        self.epoch = 0
        self.host = host
        self.coordinator = GroupCoordinator(host, bootstrap, group, name=name)
        self._bootstrap = list(bootstrap)
        self._record = record
        self._progress = progress
        self._readers: dict[TopicPartition, asyncio.Task[object]] = {}
        self._readers_made = 0
        self._told: set[tuple[TopicPartition, int]] = set()

    @property
    def owned(self) -> list[TopicPartition]:
        return sorted(self._readers)

    async def run(self) -> None:
        raise NotImplementedError

    def own(self, partitions: Iterable[TopicPartition]) -> None:
        """These and no others are its own from now on, in its present epoch."""
        wanted = set(partitions)
        for partition in self.owned:
            if partition not in wanted:
                self._readers.pop(partition).cancel()
        for partition in sorted(wanted):
            if (partition, self.epoch) not in self._told:
                self._told.add((partition, self.epoch))
                self._record(GroupOwns(self.name, self.coordinator.group, partition, self.epoch))
            if partition not in self._readers:
                self._readers[partition] = self.host.run("read", self._read(partition))

    async def _read(self, partition: TopicPartition) -> None:
        self._readers_made += 1
        reader = SimulatedConsumer(
            self.host,
            self._bootstrap,
            self._record,
            partition,
            name=f"{self.name}.{self._readers_made}",
        )
        reader.position = await self._resume(partition)
        committed = reader.position
        while True:
            await reader.poll()
            position = reader.position
            if position > committed and await self.coordinator.commit(
                partition, position, member_id=self.member_id, epoch=self.epoch
            ):
                committed = position
                known = self._progress.committed
                known[partition] = max(position, known.get(partition, 0))
                group = self.coordinator.group
                self._record(GroupCommitted(self.name, group, partition, position))

    async def _resume(self, partition: TopicPartition) -> int:
        while True:
            floor = self._progress.committed.get(partition, 0)
            offset = await self.coordinator.committed(partition)
            if offset is not None:
                group = self.coordinator.group
                self._record(GroupResumed(self.name, group, partition, offset, floor))
                return offset
            await self.coordinator.back_off()
