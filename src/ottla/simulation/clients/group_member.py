"""A member of a consumer group with the public consumer: reads its partitions and commits.

Subclasses choose the group protocol. Offsets are committed after each poll, so that each commit is
known with its epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from ottla.client.consuming.consumer import Consumer
from ottla.client.errors import ClientError
from ottla.client.records import ConsumedRecord, OffsetAndMetadata
from ottla.model import TopicPartition
from ottla.runtime.network import Address
from ottla.simulation.clients.client_properties import client_properties, client_seams
from ottla.simulation.history.history import Event, GroupCommitted, GroupOwns, GroupResumed, Read
from ottla.simulation.world.host import Host

_POLL_SECONDS: Final = 1.0
_COMMIT_SECONDS: Final = 5.0
_BACKOFF_SECONDS: Final = 0.1
_WORK_MS_MAX: Final = 500
_PROPERTIES: Final = {
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "session.timeout.ms": 6_000,
    "heartbeat.interval.ms": 1_000,
    "max.poll.interval.ms": 20_000,
    "allow.auto.create.topics": False,
}


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

    def latest_epoch(self, partition: TopicPartition) -> int:
        """That of the acknowledged commits of a partition."""
        return self._epochs.get(partition, 0)

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

    protocol: ClassVar[str]

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
        self.host = host
        self._group = group
        self._topic = partitions[0].topic
        self._record = record
        self._progress = progress
        self._bootstrap = list(bootstrap)
        self._committed: dict[TopicPartition, int] = {}
        # Each time that a partition is assigned, it is read anew, from where the group is.
        self._readers: dict[TopicPartition, int] = {}
        self._readers_made = 0
        self._reported: set[tuple[TopicPartition, int]] = set()
        self._dice = host.dice.fork(f"work of {name}")

    async def run(self) -> None:
        consumer = self._consumer = self._made()
        await consumer.subscribe(
            [self._topic],
            on_assigned=self._assigned,
            on_revoked=self._given_up,
            on_lost=self._given_up,
        )
        while True:
            try:
                records = await consumer.poll(_POLL_SECONDS)
            except ClientError:
                # Credentials are changed, for example; the next poll tries again.
                await self.host.clock.sleep(_BACKOFF_SECONDS)
                continue
            self._note(records)
            self._note_owned()
            if records:
                # What an application does with them takes time, in which its group may change.
                await self.host.clock.sleep(self._dice.between(low=0, high=_WORK_MS_MAX) / 1_000)
            await self._commit()

    def _made(self) -> Consumer:
        host = self.host
        properties = {
            **client_properties(host, self._bootstrap, self.name),
            **_PROPERTIES,
            "group.id": self._group,
            "group.protocol": self.protocol,
        }
        return Consumer(properties, seams=client_seams(host, self.name))

    async def _assigned(self, added: frozenset[TopicPartition]) -> None:
        self._own(self._owned_in_epoch(added))
        for partition in sorted(added):
            self._readers_made += 1
            self._readers[partition] = self._readers_made
            await self._resume(partition)

    def _own(self, partitions: frozenset[TopicPartition]) -> None:
        epoch = self._consumer.group_metadata().generation_id
        for partition in sorted(partitions):
            if epoch >= 0 and (partition, epoch) not in self._reported:
                self._reported.add((partition, epoch))
                self._record(GroupOwns(self.name, self._group, partition, epoch))

    def _note_owned(self) -> None:
        """Called after each poll."""

    def _owned_in_epoch(self, added: frozenset[TopicPartition]) -> frozenset[TopicPartition]:
        return added

    async def _given_up(self, partitions: frozenset[TopicPartition]) -> None:
        for partition in partitions:
            self._committed.pop(partition, None)

    async def _resume(self, partition: TopicPartition) -> None:
        """Notes where the consumer begins."""
        before = self._progress.committed.get(partition, 0)
        try:
            offset = await self._consumer.position(partition)
        except ClientError:
            return
        floor = min(before, self._progress.floor(partition, offset))
        self._record(GroupResumed(self.name, self._group, partition, offset, floor))
        self._progress.is_resumed(partition, offset)
        self._committed[partition] = offset

    def _note(self, records: list[ConsumedRecord]) -> None:
        for record in records:
            partition = TopicPartition(record.topic, record.partition)
            reader = f"{self.name}.{self._readers[partition]}"
            self._record(Read(reader, partition, record.offset, record.value or b""))

    async def _commit(self) -> None:
        consumer, progress = self._consumer, self._progress
        positions: dict[TopicPartition, OffsetAndMetadata] = {}
        for partition in sorted(consumer.assignment()):
            position = consumer.known_position(partition)
            if position is not None and position.offset > self._committed.get(partition, -1):
                positions[partition] = position
        epoch = consumer.group_metadata().generation_id
        first = {
            partition: progress.begins(partition, position.offset, epoch=epoch)
            for partition, position in positions.items()
        }
        latest = {partition: progress.latest_epoch(partition) for partition in positions}
        try:
            await consumer.commit(positions, timeout=_COMMIT_SECONDS)
        except ClientError:
            # It may have been sent again in a later epoch.
            later = consumer.group_metadata().generation_id
            for partition, position in positions.items():
                progress.begins(partition, position.offset, epoch=max(epoch, later))
            return
        for partition, position in positions.items():
            offset = position.offset
            self._committed[partition] = offset
            progress.is_taken(partition, offset, epoch=epoch, is_first=first[partition])
            is_late = 0 <= epoch < latest[partition] and (
                # Else it may have been sent again in this epoch.
                consumer.group_metadata().generation_id in (epoch, -1)
            )
            later = latest[partition] if is_late else -1
            self._record(GroupCommitted(self.name, self._group, partition, offset, later))
