"""The topic of schemas: created if it does not exist, read from its start, and followed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.client import ConsumedRecord, Consumer
from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.errors import ClientError, TopicAlreadyExistsError, error_for
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.tasks import Tasks
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

_log = logging.getLogger(__name__)

_REPLICAS: Final = 3
_POLL_SECONDS: Final = 0.5
_RECORDS_MAX: Final = 500
_CREATE_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.5


class SchemaTopic:
    """Calls `apply` with each record, in order, from one task. Owned by the event loop."""

    def __init__(
        self,
        name: str,
        properties: Mapping[str, Any],
        seams: ClientSeams,
        apply: Callable[[ConsumedRecord], None],
    ) -> None:
        self.partition = TopicPartition(name, 0)
        # The offset behind the last record that was applied.
        self.position = 0
        self.is_read = False
        self._seams = seams
        self._apply = apply
        reading = {
            **properties,
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "fetch.max.wait.ms": 500,
            "max.poll.records": _RECORDS_MAX,
        }
        self._consumer = Consumer(reading, seams=seams)
        # A consumer is for one task, and this one waits in `poll`.
        self._ends = Consumer(reading, seams=seams)
        self._ends_lock = asyncio.Lock()
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._tasks = Tasks(_failed)

    async def start(self) -> None:
        """Returns when everything that the topic has now is applied. Raises ClientError."""
        self._consumer.assign([self.partition])
        self._tasks.start("reading schemas", self._follow())
        await self.catch_up()
        self.is_read = True

    async def catch_up(self) -> None:
        """Returns when everything that was committed before the call is applied. Raises
        ClientError."""
        async with self._ends_lock:
            ends = await self._ends.end_offsets([self.partition])
        await self.wait_position(ends[self.partition])

    async def wait_position(self, position: int) -> None:
        """Returns when the records below this offset are applied."""
        if self.position >= position:
            return
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append((position, waiting))
        await waiting

    async def close(self) -> None:
        await self._tasks.close()
        for _, waiting in self._waiting:
            waiting.cancel()
        await self._consumer.close()
        await self._ends.close()

    async def _follow(self) -> None:
        while True:
            try:
                records = await self._consumer.poll(_POLL_SECONDS)
                for record in records:
                    self._apply(record)
                # Behind markers of transactions as well, which are no records.
                self._reach(await self._consumer.position(self.partition))
            except ClientError as error:
                _log.warning("cannot read %s: %s", self.partition.topic, error)
                await self._seams.clock.sleep(_PAUSE_SECONDS)

    def _reach(self, position: int) -> None:
        self.position = max(self.position, position)
        still = []
        for wanted, waiting in self._waiting:
            if wanted > self.position:
                still.append((wanted, waiting))
            elif not waiting.done():
                waiting.set_result(None)
        self._waiting = still


async def ensure_topic(cluster: ClientCluster, name: str) -> None:
    """Creates the topic as compacted, with one partition. Raises ClientError."""
    clock = cluster.clock
    deadline = clock.monotonic() + _CREATE_SECONDS

    async def create() -> None:
        metadata = await cluster.refresh((name,))
        if name in metadata.topics:
            return
        topic = CreatableTopic(
            name=name,
            num_partitions=1,
            replication_factor=min(_REPLICAS, len(metadata.nodes)),
            configs=[CreatableTopicConfig(name="cleanup.policy", value="compact")],
        )
        response = await cluster.send_to_controller(CreateTopicsRequest(topics=[topic]))
        result = response.topics[0]
        if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
            raise error_for(ErrorCode(result.error_code), result.error_message or "")

    try:
        await cluster.retrying(f"creating the topic {name}", create, deadline=deadline)
    except TopicAlreadyExistsError:
        # Another instance was faster.
        return
    await cluster.wait_leader(TopicPartition(name, 0), deadline=deadline)


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
