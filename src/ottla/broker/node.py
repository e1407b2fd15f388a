"""A node: the controller and the broker in one process, from its directories to its listeners.

made ──start──▶ locked, identified ──▶ metadata loaded ──▶ logs open ──▶ listening ──▶ serving
                                                                            │
                                   stopped ◀── logs closed ◀── drained ◀──stop
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf

from ottla.broker.broker import Broker
from ottla.broker.connection import ClientConnection
from ottla.broker.housekeeping import Housekeeping, Intervals
from ottla.broker.identity import identify
from ottla.broker.registration import Registration
from ottla.configs import NodeConfig
from ottla.configs.listeners import Listener as ConfiguredListener
from ottla.controller.controller import Controller, Seams
from ottla.controller.formatting import ControllerEndpoint
from ottla.model import KafkaError, NodeId
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.runtime.metrics import Metrics
from ottla.runtime.network import Address, Listener, Network
from ottla.runtime.tasks import Tasks
from ottla.storage.group_commit import GroupCommit
from ottla.storage.log_directory import Progress
from ottla.storage.log_store import LogStore

_log = logging.getLogger(__name__)

# Rolled segments are made durable soon, whether or not the topic asks for more.
_FLUSH_SECONDS = 1.0
_IDLE_CHECK_SECONDS = 10.0
_DRAIN_SECONDS = 1.0
_DRAIN_STEP_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class World:
    """All seams of a node."""

    disk: Disk
    clock: Clock
    dice: Dice
    network: Network
    background: Background
    # What the host has descriptors for.
    connections_max: int = 1 << 31


class Node:
    """Belongs to one event loop. `start` once, then `stop` once."""

    def __init__(self, config: NodeConfig, world: World) -> None:
        self.config = config
        self.metrics = Metrics()
        self._world = world
        self._tasks = Tasks(self._task_failed)
        self._listeners: list[tuple[ConfiguredListener, Listener]] = []

    @property
    def addresses(self) -> dict[str, Address]:
        """Where it listens, by the listener's name."""
        return {configured.name: listener.address for configured, listener in self._listeners}

    async def start(self, *, progress: Progress = lambda _done, _all: None) -> None:
        """Returns when the node serves. Raises `StorageError`, `OSError` or `InvalidConfigError`,
        and then it has let go of everything again."""
        world, config = self._world, self.config
        node_id = NodeId(config.node_id)
        logs = LogStore(world.disk, config.log_dirs)
        try:
            cluster_id = identify(
                world.disk,
                [directory.path for directory in logs.directories],
                metadata_path=config.metadata_log_dir,
                node_id=node_id,
                controller=ControllerEndpoint("localhost", 0),
                dice=world.dice,
                now_ms=world.clock.now_ms(),
            )
            self._controller = Controller.open(
                Seams(world.disk, world.clock, world.dice, world.background, self._tasks),
                config.metadata_log_dir,
                cluster_id=cluster_id,
                node=config,
            )
        except BaseException:
            logs.abandon()
            raise
        self.broker = Broker(
            node_id=node_id,
            config=config,
            controller=self._controller,
            clock=world.clock,
            dice=world.dice,
            tasks=self._tasks,
            background=world.background,
            logs=logs,
            commit=GroupCommit(world.background, self._tasks),
            request_bytes_max=config.socket_request_max_bytes,
            fetch_bytes_max=config.fetch_max_bytes,
            fetch_sessions_max=config.max_incremental_fetch_session_cache_slots,
            connections_max=world.connections_max,
        )
        self._registration = Registration(self._controller, node_id, world.dice.uuid())
        self.broker.replicas.load(progress=progress)
        try:
            await self._listen()
            await self._registration.register(
                self._advertised(),
                rack=config.broker_rack,
                directory_ids=[
                    directory_id
                    for directory in logs.directories
                    if (directory_id := directory.id) is not None
                ],
                previous_broker_epoch=logs.previous_broker_epoch,
            )
            self._controller.listen(self.broker.replicas.apply)
            await self._registration.begin_to_serve()
            await self.broker.replicas.wait_applied()
            for _, listener in self._listeners:
                self.broker.connection_limits.open(listener)
        except BaseException:
            await self.stop()
            raise
        self._housekeeping().start()

    async def stop(self) -> None:
        """Answers what was asked, closes everything and leaves directories that need no repair."""
        for _, listener in self._listeners:
            listener.close()
        await self._close_connections()
        with suppress(KafkaError):
            await self._registration.take_leave()
        await self._controller.close()
        await self._tasks.close()
        self.broker.logs.close(broker_epoch=self._registration.broker_epoch)
        await self._world.background.close()

    async def _close_connections(self) -> None:
        """Gives clients a moment to read what was written to them, and no more than that."""
        connections, clock = self.broker.connections, self._world.clock
        for connection in list(connections):
            connection.close()
        deadline = clock.monotonic() + _DRAIN_SECONDS
        while connections and clock.monotonic() < deadline:
            await clock.sleep(_DRAIN_STEP_SECONDS)
        for connection in list(connections):
            connection.abort()

    async def _listen(self) -> None:
        for configured in self.config.listeners.broker:
            address = Address(configured.host, configured.port)
            make_handler = partial(ClientConnection, self.broker, configured.name)
            listener = await self._world.network.listen(address, make_handler)
            # The port has to be known to register, and nobody is to meet an unregistered node.
            listener.pause_accepting()
            self._listeners.append((configured, listener))

    def _advertised(self) -> list[ConfiguredListener]:
        """What clients are told to connect to; a port that was left open is the one found."""
        ports = {configured.name: found.address.port for configured, found in self._listeners}
        return [
            advertised._replace(
                host=advertised.host or self._world.network.host_name(),
                port=advertised.port or ports[advertised.name],
            )
            for advertised in self.config.listeners.advertised
        ]

    def _housekeeping(self) -> Housekeeping:
        config = self.config
        # Kafka closes none if this is negative.
        idle_ms = config.connections_max_idle_ms
        idle_seconds = idle_ms / 1_000 if idle_ms >= 0 else inf
        return Housekeeping(
            self.broker,
            self._world.background,
            self.metrics,
            intervals=Intervals(
                retention=config.log_retention_check_interval_ms / 1_000,
                flush=min(_FLUSH_SECONDS, config.log_flush_scheduler_interval_ms / 1_000),
                checkpoints=config.log_flush_offset_checkpoint_interval_ms / 1_000,
                producer_expiry=config.producer_id_expiration_check_interval_ms / 1_000,
                compaction=config.log_cleaner_backoff_ms / 1_000,
                idle_connections=min(_IDLE_CHECK_SECONDS, idle_seconds / 4),
            ),
            connection_idle_seconds=idle_seconds,
        )

    def _task_failed(self, name: str, error: BaseException) -> None:
        _log.error("%s failed", name, exc_info=error)
