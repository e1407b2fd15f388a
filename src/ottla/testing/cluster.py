"""A cluster of one node in a thread of the test's own process, on a free port of the loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ottla.broker.node import Node, World
from ottla.configs import NodeConfig
from ottla.controller.operations.create_topics import create_topics
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.background import InlineBackground
from ottla.runtime.dice import SystemDice
from ottla.runtime.system_background import SystemBackground
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.runtime.system_network import SystemNetwork
from ottla.simulation.disk import SimulatedDisk
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

T = TypeVar("T")

_IN_MEMORY = "/ottla"
_START_SECONDS = 30.0
# Retention, compaction and the like need not wait for minutes in a test, and a topic of internal
# use need not have fifty partitions.
_TEST_PROPERTIES = {
    "log.retention.check.interval.ms": "1000",
    "log.cleaner.backoff.ms": "500",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
}


class Cluster:
    """Serves between `start` and `stop`, or within `with`.

    Without a `data_dir` everything is in memory and gone at the end; with one it is on disk and can
    be started again. `properties` are Kafka's broker configs.
    """

    def __init__(
        self, *, data_dir: Path | str | None = None, properties: Mapping[str, str] | None = None
    ) -> None:
        self._data_dir = None if data_dir is None else str(Path(data_dir).resolve())
        self._properties = {**_TEST_PROPERTIES, **(properties or {})}
        self._memory = SimulatedDisk()
        self._thread: threading.Thread | None = None

    @property
    def bootstrap(self) -> str:
        """What a client calls `bootstrap.servers`."""
        (address,) = self._node.addresses.values()
        return f"{address.host}:{address.port}"

    def start(self) -> Self:
        """Returns when the node serves. What keeps it from starting is raised here."""
        assert self._thread is None, "the cluster runs already"
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ottla", daemon=True)
        self._thread.start()
        try:
            self._call(self._start())
        except BaseException:
            self._end_thread()
            raise
        return self

    def stop(self) -> None:
        """Shuts the node down cleanly."""
        try:
            self._call(self._node.stop())
        finally:
            self._end_thread()

    def create_topic(
        self, name: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        """Makes a topic without a client. Raises `KafkaError` if the node refuses."""
        self._call(self._create_topic(name, partitions, configs or {}))

    def call_in_loop(self, function: Callable[[], object]) -> None:
        """Calls a function on the node's thread, between two events, and waits for it."""

        async def call() -> None:
            function()

        self._call(call())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    async def _start(self) -> None:
        in_memory = self._data_dir is None
        world = World(
            disk=self._memory if in_memory else SystemDisk(),
            clock=SystemClock(),
            dice=SystemDice(),
            network=SystemNetwork(),
            background=InlineBackground() if in_memory else SystemBackground(threads=2),
        )
        config = NodeConfig.of(
            self._properties, data_dir=self._data_dir or _IN_MEMORY, listen="127.0.0.1:0"
        )
        self._node = Node(config, world)
        await self._node.start()

    async def _create_topic(self, name: str, partitions: int, configs: Mapping[str, str]) -> None:
        broker = self._node.broker
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=name,
                    num_partitions=partitions,
                    replication_factor=1,
                    configs=[
                        CreatableTopicConfig(name=key, value=value)
                        for key, value in configs.items()
                    ],
                )
            ]
        )
        response = await broker.controller.submit(create_topics, request)
        result = response.topics[0]
        if result.error_code:
            raise KafkaError(ErrorCode(result.error_code), result.error_message or "")
        await broker.replicas.wait_applied()

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the node's loop and waits for it here."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(_START_SECONDS)

    def _end_thread(self) -> None:
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._thread = None
