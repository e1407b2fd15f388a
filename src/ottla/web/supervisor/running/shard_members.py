"""The member of the group of supervisors: owns the shards of the partitions that it is assigned."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from ottla.client import Consumer
from ottla.client.cluster import ClientSeams
from ottla.client.errors import ClientError
from ottla.model import TopicPartition
from ottla.runtime.tasks import Tasks
from ottla.web.supervisor.model.deployment import ShardOwner, partition_of
from ottla.web.supervisor.running.child import Children
from ottla.web.supervisor.running.shard import PipelineShard
from ottla.web.supervisor.storing.pipeline_topic import PipelineTopic
from ottla.web.supervisor.storing.shard_writer import ShardWriter

_log = logging.getLogger(__name__)

_POLL_SECONDS: Final = 0.3
_PAUSE_SECONDS: Final = 0.5
_PROPERTIES: Final = {
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "group.protocol": "classic",
    # A supervisor that joins interrupts only the pipelines that it gets.
    "partition.assignment.strategy": "cooperative-sticky",
    "session.timeout.ms": 10_000,
    "heartbeat.interval.ms": 1_000,
    # Children are ended within a poll.
    "max.poll.interval.ms": 180_000,
}


class ShardMembers:
    """Owned by the event loop, from `start` to `close`."""

    def __init__(
        self,
        group_id: str,
        properties: Mapping[str, Any],
        seams: ClientSeams,
        topic: PipelineTopic,
        children: Children,
    ) -> None:
        self.shards: dict[int, PipelineShard] = {}
        self._group_id = group_id
        self._properties = properties
        self._seams = seams
        self._topic = topic
        self._children = children
        self._tasks = Tasks(_failed)
        self._consumer = Consumer({**properties, **_PROPERTIES, "group.id": group_id}, seams=seams)
        self._owner = ShardOwner("", "", "", 0, "", -1)

    async def start(self, *, worker: str, scheme: str, host: str, port: int) -> None:
        """The address is where other supervisors reach this one. Raises ClientError."""
        self._owner = ShardOwner(worker, scheme, host, port, "", -1)
        await self._consumer.subscribe(
            [self._topic.name],
            on_assigned=self._assigned,
            on_revoked=self._revoked,
            on_lost=self._lost,
        )
        self._tasks.start("membership of the supervisor", self._poll())

    def shard_of(self, name: str) -> PipelineShard | None:
        """The shard of this pipeline, if it is owned here."""
        return self.shards.get(partition_of(name, self._topic.partitions))

    async def close(self) -> None:
        """Ends all children in order, and leaves the group."""
        await self._tasks.close()
        await self._revoked(
            frozenset(TopicPartition(self._topic.name, each) for each in self.shards)
        )
        await self._consumer.close()

    async def _poll(self) -> None:
        while True:
            try:
                # Records are read by another consumer.
                self._consumer.pause(self._consumer.assignment())
                await self._consumer.poll(_POLL_SECONDS)
            except ClientError as error:
                _log.warning("group %s: %s", self._group_id, error)
                await self._seams.clock.sleep(_PAUSE_SECONDS)

    def _assigned(self, partitions: frozenset[TopicPartition]) -> None:
        generation = self._consumer.group_metadata().generation_id
        for _, partition in sorted(partitions):
            shard = PipelineShard(
                partition,
                ShardOwner(
                    self._owner.worker,
                    self._owner.scheme,
                    self._owner.host,
                    self._owner.port,
                    "",
                    generation,
                ),
                self._topic,
                self._make_writer,
                self._children,
                self._seams.clock,
                self._seams.dice,
            )
            self.shards[partition] = shard
            shard.start()
        if partitions:
            _log.info("owns the shards %s", sorted(self.shards))

    async def _revoked(self, partitions: frozenset[TopicPartition]) -> None:
        shards = [self.shards.pop(each) for _, each in sorted(partitions) if each in self.shards]
        await asyncio.gather(*(shard.release() for shard in shards))

    async def _lost(self, partitions: frozenset[TopicPartition]) -> None:
        shards = [self.shards.pop(each) for _, each in sorted(partitions) if each in self.shards]
        await asyncio.gather(*(shard.abandon() for shard in shards))

    def _make_writer(self, partition: int) -> ShardWriter:
        name = TopicPartition(self._topic.name, partition)
        return ShardWriter(name, self._group_id, self._properties, self._seams)


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
