"""Topics of a run that an operator deletes, restores and purges, while producers write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, TopicPartition, Uuid, uuid_to_text
from ottla.simulation.clients.admin import SimulatedAdmin
from ottla.simulation.clients.producer import SimulatedProducer
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.deletion_events import (
    DirectoryLeft,
    TopicUndeleted,
    UndeleteRefused,
)
from ottla.simulation.world.host import Host
from ottla.simulation.world.node import DATA_DIRECTORY, SimulatedNode
from ottla.simulation.world.world import World
from ottla.storage.files.file_names import DirectoryState, PartitionDirectoryName

SHELF: Final = "shelf"
SHELF_PARTITION: Final = TopicPartition(SHELF, 0)
_METADATA_TOPIC: Final = "__cluster_metadata"
_LIVE_SECONDS: Final = (1, 6)
_DELETED_SECONDS: Final = (0, 5)
_PAUSE_SECONDS: Final = 0.5
# How long a topic is kept that is left to expire.
_BRIEF_MS: Final = 1_000
_DONE: Final = (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


class DeletionLoad:
    """`start` it once the cluster serves. Ends with its hosts."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        host: Callable[[str], Host],
        *,
        is_durable: bool,
        is_over: Callable[[], bool],
    ) -> None:
        self._world = world
        self._cluster = cluster
        self._is_over = is_over
        self._configs = {"flush.messages": "1"} if is_durable else {}
        self._operator = host("librarian")
        self._admin = SimulatedAdmin(self._operator, cluster.bootstrap, name="librarian")
        writer = host("writer")
        self._producer: SimulatedProducer = cluster.producer(writer.name, host=writer)
        self._writer = writer
        self._is_away = True
        self._is_writing = False

    def start(self) -> None:
        self._operator.run("delete and restore", self._operate())
        self._operator.run("delete and purge", self._discard())

    def reasons(self) -> Iterator[str]:
        """What is missing until everything is as it should be at the end."""
        if self._is_away:
            yield f"{SHELF} is not restored"
        if self._is_writing:
            yield f"{self._producer.name} waits for a record in {SHELF}"
        for node in self._cluster.nodes:
            for name in left_directories(node):
                yield f"{node.name} has {name}"

    def record_end(self) -> None:
        for node in self._cluster.nodes:
            for name in left_directories(node):
                self._world.record(DirectoryLeft(node.name, name))

    async def _operate(self) -> None:
        """Deletes the topic and restores it, again and again. It always ends restored."""
        await self._admin.create_topic(SHELF, configs=self._configs)
        topic_id = await self._admin.topic_id(SHELF)
        self._is_away = False
        self._writer.run("write", self._write())
        while True:
            await self._sleep(*_LIVE_SECONDS)
            if self._is_over():
                continue
            self._is_away = True
            while await self._admin.delete_topic(SHELF) not in _DONE:
                await self._sleep(0, 1)
            await self._sleep(*_DELETED_SECONDS)
            if not await self._restore(topic_id):
                return
            self._is_away = False

    async def _restore(self, topic_id: Uuid) -> bool:
        while True:
            error = await self._admin.undelete_topic(SHELF, topic_id)
            if error in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                self._world.record(TopicUndeleted(self._operator.name, SHELF))
                return True
            if error == ErrorCode.UNKNOWN_TOPIC_ID:
                refused = UndeleteRefused(self._operator.name, SHELF, "there is no such topic")
                self._world.record(refused)
                return False
            await self._sleep(0, 1)

    async def _discard(self) -> None:
        """Deletes topics for good: by purging them, or with a short time to restore them."""
        number = 0
        while True:
            await self._sleep(*_LIVE_SECONDS)
            if self._is_over():
                continue
            number += 1
            name, expires = f"leaflet-{number}", self._operator.dice.chance(0.5)
            configs = {"ottla.delete.retention.ms": str(_BRIEF_MS)} if expires else {}
            await self._admin.create_topic(name, configs=configs)
            topic_id = await self._admin.topic_id(name)
            while await self._admin.delete_topic(name) not in _DONE:
                await self._sleep(0, 1)
            if not expires:
                purged = f"{name}~{uuid_to_text(topic_id)}"
                while await self._admin.delete_topic(purged) not in _DONE:
                    await self._sleep(0, 1)

    async def _write(self) -> None:
        number = 0
        while True:
            if not self._is_over():
                self._is_writing = True
                await self._producer.send(
                    SHELF_PARTITION, f"{self._producer.name}/{number}".encode()
                )
                self._is_writing = False
                number += 1
            await self._writer.clock.sleep(_PAUSE_SECONDS)

    async def _sleep(self, low: int, high: int) -> None:
        milliseconds = self._operator.dice.between(low=1_000 * low, high=1_000 * high)
        await self._operator.clock.sleep(milliseconds / 1_000)


def left_directories(node: SimulatedNode) -> list[str]:
    """Directories of partitions that the node should not have, according to its metadata. Strays
    wait for an operator."""
    broker = getattr(node.node, "broker", None)
    if broker is None or not node.is_serving:
        return []
    image: MetadataImage = broker.cluster.image
    left = []
    for name in node.disk.list_directory(DATA_DIRECTORY):
        try:
            parsed = PartitionDirectoryName.parse(name)
        except ValueError:
            continue
        if parsed.partition.topic == _METADATA_TOPIC or parsed.state is DirectoryState.STRAY:
            continue
        if parsed.state is DirectoryState.DELETE:
            if parsed.unique_id not in image.deleted_topics.by_id:
                left.append(name)
        elif parsed.partition.topic not in image.topics.by_name:
            left.append(name)
    return left
