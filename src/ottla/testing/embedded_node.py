"""A node in a thread of this process, which can be killed as if it were a process.

A node that fails because of its metadata or its last log directory is closed; the process
continues.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack
from typing import Any, Final, TypeVar

from ottla.broker.host_seams import HostSeams
from ottla.broker.node import Node
from ottla.configs import NodeConfig
from ottla.runtime.background import Background
from ottla.runtime.dice import SystemDice
from ottla.runtime.disk import Disk
from ottla.runtime.network import Address, ConnectionHandler
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_connection import SystemConnection
from ottla.runtime.system_listener import SystemListener
from ottla.runtime.system_network import SystemNetwork

_log = logging.getLogger(__name__)

T = TypeVar("T")

WAIT_SECONDS: Final = 30.0
_ARRIVAL_SECONDS: Final = 0.002
_LAST_TURNS: Final = 3


class EmbeddedNode:
    """A node with its own thread and event loop. Runs once, from `begin` to `stop` or `kill`."""

    def __init__(self, config: NodeConfig, disk: Disk, background: Background) -> None:
        self._network = _MortalNetwork()
        world = HostSeams(
            disk=disk,
            clock=SystemClock(),
            dice=SystemDice(),
            network=self._network,
            background=background,
        )
        self.node = Node(config, world, on_failed=self._failed)
        self._seams = world
        # Where the node serves its metrics, if its config says so.
        self.metrics_address: Address | None = None
        self._monitoring = AsyncExitStack()
        self._stopping: asyncio.Task[None] | None = None
        self._is_starting = True
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name=f"ottla-{config.node_id}", daemon=True
        )

    @property
    def client_address(self) -> Address:
        """The address for clients."""
        return self.node.addresses[self.node.config.listeners.broker[0].name]

    def begin(self) -> Future[None]:
        """Starts the node. The future completes when it serves, or with the error of the start."""
        self._thread.start()
        return asyncio.run_coroutine_threadsafe(self._start(), self._loop)

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the node's loop and waits for its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT_SECONDS)

    def stop(self) -> None:
        """Shuts the node down cleanly, including its logs, and ends its thread."""
        try:
            self.begin_stop().result(WAIT_SECONDS)
        finally:
            self.end()

    def begin_stop(self) -> Future[None]:
        """Begins a clean shutdown. The future completes when it is done; call `end` afterwards."""
        return asyncio.run_coroutine_threadsafe(self._stop(), self._loop)

    @property
    def has_failed(self) -> bool:
        """Whether the node was closed because of a failure."""
        return self.node.failure is not None

    def kill(self) -> None:
        """Ends the node without a clean shutdown. Written data remains, as after SIGKILL."""
        self.call(self._die())
        self.end()

    def end(self) -> None:
        """Ends the thread and all tasks on its loop. Needed after a failed start too."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        # A cancelled task may create new ones.
        while tasks := asyncio.all_tasks(self._loop):
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.wait(tasks))
        # A connection that was being opened when its task ended has no owner: left open, the
        # garbage collector would report it during another test.
        transports: Any = getattr(self._loop, "_transports", {})
        for transport in list(transports.values()):
            transport.abort()
        # Closed transports need some more turns of the loop.
        for _ in range(_LAST_TURNS):
            self._loop.run_until_complete(SystemClock().sleep(0))
        self._loop.close()

    def _failed(self) -> None:
        if not self._is_starting:
            _log.error("node %d is closed: %s", self.node.config.node_id, self.node.failure)
            self._stopping = self._loop.create_task(self.node.stop())

    async def _stop(self) -> None:
        if self._stopping is None:
            self._stopping = self._loop.create_task(self.node.stop())
        await self._stopping
        await self._monitoring.aclose()

    async def _start(self) -> None:
        """A node that fails during its start closes itself."""
        if self.node.config.has_metrics:
            # Imported only where metrics are wanted.
            from ottla.broker.monitoring.monitoring import monitored

            self.metrics_address = await self._monitoring.enter_async_context(
                monitored(self.node, self._seams)
            )
        try:
            await self.node.start()
        except BaseException:
            await self._monitoring.aclose()
            raise
        self._is_starting = False

    async def _die(self) -> None:
        await self._monitoring.aclose()
        if self._stopping is not None:
            await self._stopping
            return
        self._network.die()
        for _ in range(2):
            for connection in list(self.node.broker.connections):
                connection.abort()
            # Abort again after a moment: the listener may still be accepting connections.
            await SystemClock().sleep(_ARRIVAL_SECONDS)
        # Ignore the errors of timers that still fire.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        await self.node.abandon()


class _MortalNetwork(SystemNetwork):
    """The host's network until `die`: then all its listeners and connections are closed."""

    __slots__ = ("_connections", "_is_dead", "_listeners")

    def __init__(self) -> None:
        self._listeners: list[SystemListener] = []
        self._connections: set[SystemConnection] = set()
        self._is_dead = False

    def die(self) -> None:
        self._is_dead = True
        for listener in self._listeners:
            listener.close()
        for connection in self._connections:
            connection.abort()

    async def listen(
        self, address: Address, make_handler: Callable[[], ConnectionHandler]
    ) -> SystemListener:
        listener = await super().listen(address, make_handler)
        self._listeners.append(listener)
        return listener

    async def connect(self, address: Address, handler: ConnectionHandler) -> SystemConnection:
        connection = await super().connect(address, handler)
        if self._is_dead:
            connection.abort()
            raise OSError(errno.ENETDOWN, "this node was killed")
        self._connections.add(connection)
        return connection
