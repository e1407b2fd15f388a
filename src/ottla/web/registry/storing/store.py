"""The store of one instance: follows the topic, takes part in elections, and writes if elected."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from ottla.channels import ChannelError
from ottla.client import ConsumedRecord
from ottla.client.cluster import ClientCluster, ClientSeams
from ottla.client.errors import ClientError
from ottla.client.settings import COMMON, cluster_settings, parse_properties
from ottla.model import KafkaError
from ottla.runtime.tasks import Tasks
from ottla.schemas.registered.records import TopicRecord
from ottla.web.registry.storing.appending import NotWriterError, SchemaAppender
from ottla.web.registry.storing.membership import (
    ElectedWriter,
    RegistryMembership,
)
from ottla.web.registry.storing.probing import watch_writer
from ottla.web.registry.storing.topic import SchemaTopic, ensure_topic
from ottla.web.service.instance_address import InstanceAddress

_log = logging.getLogger(__name__)

_PAUSE_SECONDS: Final = 0.3


class SchemaStore(Protocol):
    """What a registry needs: a log that only one instance writes at a time."""

    @property
    def is_writer(self) -> bool: ...

    @property
    def writer(self) -> InstanceAddress | None:
        """Where the writer is; None while there is none."""

    @property
    def position(self) -> int:
        """The offset behind the last record that was applied."""

    async def append(self, records: Sequence[TopicRecord]) -> None:
        """Returns when all records are committed and applied here. Raises NotWriterError or
        HttpProblem."""

    async def catch_up(self) -> None:
        """Returns when everything that was committed before is applied. Raises ClientError."""

    async def wait_position(self, position: int) -> None: ...


class KafkaSchemaStore:
    """Owned by the event loop, from `start` to `close`."""

    def __init__(
        self,
        topic: str,
        group_id: str,
        properties: Mapping[str, Any],
        seams: ClientSeams,
        apply: Callable[[ConsumedRecord], None],
    ) -> None:
        self._properties = properties
        self._seams = seams
        self._group_id = group_id
        parsed = parse_properties(COMMON, properties, {}, dice=seams.dice)
        self.settings = cluster_settings(parsed.values, parsed.security)
        self._cluster = ClientCluster(self.settings, seams)
        self._topic = SchemaTopic(topic, properties, seams, apply)
        self._tasks = Tasks(_failed)
        self._elected: ElectedWriter | None = None
        self._appender: SchemaAppender | None = None
        self._membership: RegistryMembership | None = None
        self._role: asyncio.Task[object] | None = None

    # ---- SchemaStore

    @property
    def is_writer(self) -> bool:
        return self._appender is not None

    @property
    def writer(self) -> InstanceAddress | None:
        return None if self._elected is None else self._elected.address

    @property
    def position(self) -> int:
        return self._topic.position

    @property
    def is_read(self) -> bool:
        return self._topic.is_read

    @property
    def cluster_id(self) -> str:
        return self._cluster.metadata.cluster_id or ""

    async def append(self, records: Sequence[TopicRecord]) -> None:
        appender = self._appender
        if appender is None:
            raise NotWriterError
        if not records:
            return
        await self._topic.wait_position(await appender.append(records))

    async def catch_up(self) -> None:
        await self._topic.catch_up()

    async def wait_position(self, position: int) -> None:
        await self._topic.wait_position(position)

    # ---- life cycle

    async def start(self) -> None:
        """Reads the topic; creates it if it does not exist. Raises ClientError."""
        await ensure_topic(self._cluster, self._topic.partition.topic)
        await self._topic.start()

    def join(self, address: InstanceAddress) -> None:
        """Takes part in elections from now on."""
        membership = RegistryMembership(
            self._cluster, self._group_id, address, self._take_role, lambda: self.is_writer
        )
        self._membership = membership
        self._tasks.start("membership of the registry", membership.run())

    async def close(self) -> None:
        await self._tasks.close()
        if self._appender is not None:
            await self._appender.close()
        if self._membership is not None:
            await self._membership.leave()
        await self._topic.close()
        await self._cluster.close()

    # ---- elections

    def _take_role(self, elected: ElectedWriter | None) -> None:
        before, self._elected = self._elected, elected
        stays = before is not None and elected is not None and before.member_id == elected.member_id
        if stays and self._role is not None and not self._role.done():
            return
        if self._role is not None:
            self._role.cancel()
        self._role = None
        if elected is not None and not self._tasks.is_closed:
            role = self._write(elected) if elected.is_here else self._watch(elected)
            self._role = self._tasks.start("role in the registry", role)

    async def _watch(self, elected: ElectedWriter) -> None:
        await self._resign()
        await watch_writer(self._seams.clock, elected, self._remove)

    async def _remove(self, elected: ElectedWriter) -> None:
        assert self._membership is not None
        _log.warning("the writer at %s is gone; electing another one", elected.address)
        try:
            await self._membership.remove(elected.member_id)
        except (ChannelError, KafkaError) as error:
            _log.info("cannot remove the writer that is gone: %s", error)

    async def _write(self, elected: ElectedWriter) -> None:
        """Writes until another instance is elected; begins again after a failure."""
        try:
            while True:
                appender = SchemaAppender(self._topic.partition, self._properties, self._seams)
                try:
                    await appender.start()
                    # No earlier writer can write any more; what it wrote has to be known.
                    await self._topic.catch_up()
                    self._appender = appender
                    _log.info("this instance is the writer, of election %d", elected.generation)
                    await appender.ended
                except ClientError as error:
                    _log.warning("cannot become the writer: %s", error)
                finally:
                    self._appender = None
                    await appender.close()
                await self._seams.clock.sleep(_PAUSE_SECONDS)
        finally:
            self._appender = None

    async def _resign(self) -> None:
        appender, self._appender = self._appender, None
        if appender is not None:
            await appender.close()


def _failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
