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
from ottla.simulation.clients.cluster_client import LogPosition
from ottla.simulation.clients.consumer import SimulatedConsumer
from ottla.simulation.clients.group_coordinator import CoordinatorClient
from ottla.simulation.history.history import Event, GroupCommitted, GroupOwns, GroupResumed
from ottla.simulation.world.host import Host


class MemberProgress:
    """How far a group has come for certain, as the world knows it: what was told to be taken. And
    what may yet be taken, for all that is known: a commit that nobody answers waits in its
    connection, maybe, and is taken after later ones of the same epoch, for a node does not see who
    has hung up meanwhile."""

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, int] = {}
        # Offsets and their epochs. Below an epoch that was heard nothing may be taken any more.
        self._doubtful: dict[TopicPartition, set[tuple[int, int]]] = {}
        self._epochs: dict[TopicPartition, int] = {}

    def begins(self, partition: TopicPartition, offset: int, *, epoch: int) -> bool:
        """A commit is on its way. Whether it is the first of its kind."""
        doubtful = self._doubtful.setdefault(partition, set())
        is_first = (offset, epoch) not in doubtful
        if epoch >= self._epochs.get(partition, 0):
            doubtful.add((offset, epoch))
        return is_first

    def is_taken(
        self, partition: TopicPartition, offset: int, *, epoch: int, is_first: bool
    ) -> None:
        self.committed[partition] = max(offset, self.committed.get(partition, 0))
        latest = self._epochs[partition] = max(epoch, self._epochs.get(partition, 0))
        answered = (offset, epoch) if is_first else None
        self._doubtful[partition] = {
            each
            for each in self._doubtful.get(partition, ())
            if each[1] >= latest and each != answered
        }

    def is_told(self, partition: TopicPartition, offset: int) -> None:
        """A member was told to go on there: whoever committed it, and whether it heard so or not,
        it was taken."""
        self.committed[partition] = max(offset, self.committed.get(partition, 0))

    def floor(self, partition: TopicPartition, offset: int) -> int:
        """Where the group has to go on at the earliest, if `offset` is what it is told."""
        certain = self.committed.get(partition, 0)
        is_doubtful = any(each == offset for each, _ in self._doubtful.get(partition, ()))
        return min(certain, offset) if is_doubtful else certain


class GroupMember:
    """Belongs to the process of its host. `run` never ends by itself."""

    def __init__(
        self,
        host: Host,
        bootstrap: Sequence[Address],
        record: Callable[[Event], None],
        progress: MemberProgress,
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
        self.coordinator = CoordinatorClient(host, bootstrap, group, name=name)
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
        reader.go_on(await self._resume(partition))
        committed = reader.position
        while True:
            await reader.poll()
            position = reader.position
            if position <= committed:
                continue
            epoch = self.epoch
            is_first = self._progress.begins(partition, position, epoch=epoch)
            if await self.coordinator.commit(
                partition,
                LogPosition(position, reader.leader_epoch),
                member_id=self.member_id,
                epoch=epoch,
            ):
                committed = position
                self._progress.is_taken(partition, position, epoch=epoch, is_first=is_first)
                group = self.coordinator.group
                self._record(GroupCommitted(self.name, group, partition, position))

    async def _resume(self, partition: TopicPartition) -> LogPosition:
        while True:
            before = self._progress.committed.get(partition, 0)
            position = await self.coordinator.committed(partition)
            if position is not None:
                offset = position.offset
                floor = min(before, self._progress.floor(partition, offset))
                group = self.coordinator.group
                self._record(GroupResumed(self.name, group, partition, offset, floor))
                self._progress.is_told(partition, offset)
                return position
            await self.coordinator.back_off()
