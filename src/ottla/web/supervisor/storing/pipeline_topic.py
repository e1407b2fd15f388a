"""The topic with the state of all pipelines: created if it does not exist, read from its start, and
followed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from ottla.client import Consumer
from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.errors import ClientError, TopicAlreadyExistsError, error_for
from ottla.client.settings import COMMON, cluster_settings, parse_properties
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.tasks import Tasks
from ottla.web.supervisor.model.pipeline_table import PipelineTable
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

_log = logging.getLogger(__name__)

PARTITIONS: Final = 8
_REPLICAS: Final = 3
_POLL_SECONDS: Final = 0.5
_START_SECONDS: Final = 60.0
_PAUSE_SECONDS: Final = 0.5
_CONFIGS: Final = {
    "cleanup.policy": "compact",
    "segment.bytes": str(1024 * 1024),
    "min.cleanable.dirty.ratio": "0.1",
}


class PipelineTopic:
    """Owned by the event loop. Applies each record to the table."""

    def __init__(
        self,
        name: str,
        properties: Mapping[str, Any],
        seams: ClientSeams,
        *,
        partitions: int = PARTITIONS,
    ) -> None:
        """`partitions` are those of a new topic."""
        self.name = name
        self.table = PipelineTable()
        self.partitions = partitions
        self.is_read = False
        self._seams = seams
        parsed = parse_properties(COMMON, properties, {}, dice=seams.dice)
        self.settings = cluster_settings(parsed.values, parsed.security)
        self._cluster = ClientCluster(self.settings, seams)
        reading = {
            **properties,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        self._consumer = Consumer(reading, seams=seams)
        # A consumer is for one task, and this one waits in `poll`.
        self._ends = Consumer(reading, seams=seams)
        self._ends_lock = asyncio.Lock()
        self._positions: dict[int, int] = {}
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._tasks = Tasks(_failed)

    @property
    def cluster_id(self) -> str:
        return self._cluster.metadata.cluster_id or ""

    async def start(self) -> None:
        """Returns when everything that the topic has now is applied. Raises ClientError."""
        await self._ensure()
        self._consumer.assign([self._partition(each) for each in range(self.partitions)])
        self._tasks.start("reading the state of pipelines", self._follow())
        for each in range(self.partitions):
            await self.catch_up(each)
        self.is_read = True

    async def catch_up(self, partition: int) -> None:
        """Returns when everything that was committed before the call is applied. Raises
        ClientError."""
        name = self._partition(partition)
        async with self._ends_lock:
            ends = await self._ends.end_offsets([name])
        await self.wait_position(partition, ends[name])

    async def wait_position(self, partition: int, position: int) -> None:
        """Returns when the records below this offset are applied."""
        if self._positions.get(partition, 0) < position:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append((partition, position, waiting))
            await waiting

    async def close(self) -> None:
        await self._tasks.close()
        for _, _, waiting in self._waiting:
            waiting.cancel()
        await self._consumer.close()
        await self._ends.close()
        await self._cluster.close()

    async def _follow(self) -> None:
        while True:
            try:
                records = await self._consumer.poll(_POLL_SECONDS)
                for record in records:
                    self.table.apply(record.key, record.value)
                await self._reach()
            except ClientError as error:
                _log.warning("cannot read %s: %s", self.name, error)
                await self._seams.clock.sleep(_PAUSE_SECONDS)

    async def _reach(self) -> None:
        for each in range(self.partitions):
            # Behind markers of transactions as well, which are no records.
            found = self._consumer.known_position(self._partition(each))
            if found is not None:
                self._positions[each] = max(found.offset, self._positions.get(each, 0))
        still = []
        for partition, wanted, waiting in self._waiting:
            if wanted > self._positions.get(partition, 0):
                still.append((partition, wanted, waiting))
            elif not waiting.done():
                waiting.set_result(None)
        self._waiting = still

    async def _ensure(self) -> None:
        """Creates the topic if it does not exist. Raises ClientError."""
        cluster = self._cluster
        deadline = cluster.clock.monotonic() + _START_SECONDS

        async def create() -> None:
            metadata = await cluster.refresh((self.name,))
            if self.name in metadata.topics:
                return
            topic = CreatableTopic(
                name=self.name,
                num_partitions=self.partitions,
                replication_factor=min(_REPLICAS, len(metadata.nodes)),
                configs=[
                    CreatableTopicConfig(name=name, value=value) for name, value in _CONFIGS.items()
                ],
            )
            response = await cluster.send_to_controller(CreateTopicsRequest(topics=[topic]))
            result = response.topics[0]
            if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                raise error_for(ErrorCode(result.error_code), result.error_message or "")

        # Another supervisor may be faster.
        with suppress(TopicAlreadyExistsError):
            await cluster.retrying(f"creating the topic {self.name}", create, deadline=deadline)
        await cluster.wait_leader(self._partition(0), deadline=deadline)
        self.partitions = len(cluster.metadata.topics[self.name].partitions)

    def _partition(self, number: int) -> TopicPartition:
        return TopicPartition(self.name, number)


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
