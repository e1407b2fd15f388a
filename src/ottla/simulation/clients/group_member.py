"""A member of a consumer group: reads its assigned partitions and commits offsets.

Subclasses implement the group protocols: consumer_member.py the consumer protocol (KIP-848),
classic_member.py the classic one. Each assigned partition is read by its own reader, from the
group's committed offset until the partition is revoked.
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
    """The offsets that a group has certainly committed, and those that may still be committed.

    A commit without response may still wait in its connection and be applied after later commits of
    the same epoch, because a node does not notice that the client has closed the connection.
    """

    def __init__(self) -> None:
        self.committed: dict[TopicPartition, int] = {}
        # Offset and epoch of commits without response. Commits of epochs older than the latest
        # acknowledged one can no longer be applied.
        self._doubtful: dict[TopicPartition, set[tuple[int, int]]] = {}
        self._epochs: dict[TopicPartition, int] = {}

    def begins(self, partition: TopicPartition, offset: int, *, epoch: int) -> bool:
        """Registers a commit to be sent. Returns whether it is the first with this offset and
        epoch.
        """
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

    def is_resumed(self, partition: TopicPartition, offset: int) -> None:
        """A member was told to resume at this offset: so it is committed, even without a
        response.
        """
        self.committed[partition] = max(offset, self.committed.get(partition, 0))

    def floor(self, partition: TopicPartition, offset: int) -> int:
        """The lowest offset at which the group may resume, if the coordinator returns `offset`."""
        certain = self.committed.get(partition, 0)
        is_doubtful = any(each == offset for each, _ in self._doubtful.get(partition, ()))
        return min(certain, offset) if is_doubtful else certain


class GroupMember:
    """Belongs to the process of its host. `run` never returns."""

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
        """`partitions` are all partitions of the topic that the group reads."""
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
        self._reported: set[tuple[TopicPartition, int]] = set()

    @property
    def owned(self) -> list[TopicPartition]:
        return sorted(self._readers)

    async def run(self) -> None:
        raise NotImplementedError

    def own(self, partitions: Iterable[TopicPartition]) -> None:
        """Makes these the member's only partitions, in its current epoch."""
        wanted = set(partitions)
        for partition in self.owned:
            if partition not in wanted:
                self._readers.pop(partition).cancel()
        for partition in sorted(wanted):
            if (partition, self.epoch) not in self._reported:
                self._reported.add((partition, self.epoch))
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
                self._progress.is_resumed(partition, offset)
                return position
            await self.coordinator.back_off()
