"""A node: the controller and the broker in one process, from its directories to its listeners.

made ──start──▶ locked, identified ──▶ metadata loaded ──▶ logs open ──▶ listening ──▶ serving
                                                                            │
                                   stopped ◀── logs closed ◀── drained ◀──stop
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from ottla.broker.active_controller import ActiveController
from ottla.broker.broker import Broker
from ottla.broker.connection import ClientConnection
from ottla.broker.handling import HandledApi, load_all
from ottla.broker.identity import controller_endpoint, identify
from ottla.broker.quorum_config import raft_config
from ottla.broker.quorum_peers import QuorumPeers
from ottla.broker.registration import Registration
from ottla.client.probe import is_gone
from ottla.configs import NodeConfig
from ottla.configs.listeners import Listener as ConfiguredListener
from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.controller import Controller
from ottla.controller.metadata_log import MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.quorum import MetadataQuorum
from ottla.controller.quorum_seams import Seams
from ottla.controller.service import OPERATIONS, ControllerService, operation_of
from ottla.model import KafkaError, NodeId
from ottla.runtime.background import Background
from ottla.runtime.clock import Clock
from ottla.runtime.dice import Dice
from ottla.runtime.disk import Disk
from ottla.runtime.metrics import Metrics
from ottla.runtime.network import Address, Listener, Network
from ottla.runtime.tasks import Tasks
from ottla.runtime.vigil import NO_VIGIL, Vigil
from ottla.storage.clean_shutdown import previous_broker_epoch
from ottla.storage.foreign_files import refuse_foreign_files
from ottla.storage.group_commit import GroupCommit
from ottla.storage.log_directory import Progress
from ottla.storage.log_store import LogStore

_log = logging.getLogger(__name__)

_DRAIN_SECONDS = 1.0
_DRAIN_STEP_SECONDS = 0.002
# A killed process lets go of its connections and ports one after the other.
_PROBE_SECONDS = 1.0
# In this time a voter is elected, or is not and goes back to voting for others.
_ELECTION_STEP_SECONDS = 0.1


class World(NamedTuple):
    """All seams of a node."""

    disk: Disk
    clock: Clock
    dice: Dice
    network: Network
    background: Background
    vigil: Vigil = NO_VIGIL
    # What the host has descriptors for.
    connections_max: int = 1 << 31


class Node:
    """Belongs to one event loop. `start` once, then `stop` once.

    `on_failed` is called when it has no part in the cluster any more, and is to be stopped.
    """

    def __init__(
        self, config: NodeConfig, world: World, *, on_failed: Callable[[], None] = lambda: None
    ) -> None:
        self.config = config
        self._on_failed = on_failed
        self.metrics = Metrics()
        self._world = world
        self._tasks = Tasks(self._task_failed)
        self._listeners: list[tuple[ConfiguredListener, Listener]] = []
        self._registration: Registration | None = None

    @property
    def addresses(self) -> dict[str, Address]:
        """Where it listens, by the listener's name."""
        return {configured.name: listener.address for configured, listener in self._listeners}

    @property
    def failure(self) -> BaseException | None:
        """What its metadata has failed with."""
        return self._quorum.failure

    async def start(self, *, progress: Progress = lambda _done, _all: None) -> None:
        """Returns when the node serves. Raises `StorageError`, `OSError`, `InvalidConfigError`, or
        `KafkaError` if the others do not let it in; then it has let go of everything again."""
        config = self.config
        refuse_foreign_files(self._world.disk, [config.metadata_log_dir, *config.log_dirs])
        logs = LogStore(self._world.disk, config.log_dirs)
        try:
            self._open_metadata(logs)
        except BaseException:
            logs.abandon()
            raise
        try:
            await self._join(logs)
            if config.is_broker:
                await self._begin_to_serve(progress)
        except BaseException:
            await self.stop()
            raise
        self._tasks.start("settle", self._settle())

    def _open_metadata(self, logs: LogStore) -> None:
        world, config = self._world, self.config
        identity = identify(
            world.disk,
            [directory.path for directory in logs.directories],
            config=config,
            dice=world.dice,
            now_ms=world.clock.now_ms(),
        )
        cluster_id, directory_id = identity.cluster_id, identity.directory_id
        assert directory_id is not None, "every directory is given an id"
        seams = Seams(world.disk, world.clock, world.dice, world.background, self._tasks)
        loaded = open_metadata_log(
            world.disk,
            config.metadata_log_dir,
            MetadataLogConfig(
                log_segment_bytes=config.metadata_log_segment_bytes,
                max_record_bytes_between_snapshots=(
                    config.metadata_log_max_record_bytes_between_snapshots
                ),
            ),
            now_ms=world.clock.now_ms(),
        )
        peers = QuorumPeers(
            world.network,
            world.clock,
            world.dice,
            self._tasks,
            node_id=config.node_id,
            timeout_ms=config.controller_quorum_request_timeout_ms,
            on_lost=self._node_lost,
        )
        raft = raft_config(
            config,
            cluster_id=cluster_id,
            directory_id=directory_id,
            endpoints=[controller_endpoint(config)],
        )
        self._quorum = MetadataQuorum(seams, loaded, raft, peers)
        self._quorum.listen_leader(self._look_for_failure)
        self._listener_name = raft.listener_name
        controller = Controller(seams, self._quorum, cluster_id=cluster_id, node=config)
        liveness = BrokerLiveness(
            controller,
            world.clock,
            self._tasks,
            session_timeout_ms=config.broker_session_timeout_ms,
        )
        self.broker = self._make_broker(ControllerService(controller, liveness), logs)

    def _make_broker(self, service: ControllerService, logs: LogStore) -> Broker:
        world, config = self._world, self.config
        return Broker(
            node_id=NodeId(config.node_id),
            config=config,
            service=service,
            controller=ActiveController(
                service,
                self._locate_controller,
                world.network,
                world.clock,
                world.dice,
                self._tasks,
                node_id=config.node_id,
                on_lost=self._hurry,
            ),
            clock=world.clock,
            dice=world.dice,
            tasks=self._tasks,
            background=world.background,
            vigil=world.vigil,
            network=world.network,
            logs=logs,
            commit=GroupCommit(world.background, self._tasks),
            request_bytes_max=config.socket_request_max_bytes,
            fetch_bytes_max=config.fetch_max_bytes,
            fetch_sessions_max=config.max_incremental_fetch_session_cache_slots,
            connections_max=world.connections_max,
            metrics=self.metrics,
        )

    async def _join(self, logs: LogStore) -> None:
        """Takes part in the quorum, and is known to the controller when this returns."""
        config, world = self.config, self._world
        previous_epoch = previous_broker_epoch(world.disk, config.log_dirs)
        directory_ids = logs.directory_ids
        self._quorum.start(self.broker.service)
        await self._listen()
        self._registration = Registration(
            self.broker.controller,
            self.broker.metadata,
            world.clock,
            node_id=config.node_id,
            incarnation_id=world.dice.uuid(),
            heartbeat_interval_ms=config.broker_heartbeat_interval_ms,
            session_timeout_ms=config.broker_session_timeout_ms,
            offline_directories=lambda: [
                each for each in directory_ids if each not in logs.directory_ids
            ],
        )
        if config.is_controller:
            self._tasks.start(
                "register controller",
                self._registration.register_controller(config.listeners.advertised_controller),
            )
        if not config.is_broker:
            # It has no replicas, and follows dynamic configs all the same.
            self.broker.replicas.follow_broker_configs()
            self.broker.metadata.listen(self.broker.replicas.apply)
            return
        await self._registration.register(
            self._advertised(),
            cluster_id=self.broker.cluster_id,
            rack=config.broker_rack,
            directory_ids=directory_ids,
            previous_broker_epoch=previous_epoch,
        )
        await self._registration.wait_known()

    async def _begin_to_serve(self, progress: Progress) -> None:
        broker = self.broker
        assert self._registration is not None
        await broker.replicas.load(progress=progress)
        broker.metadata.listen(broker.replicas.apply)
        broker.metadata.listen(broker.coordinators.apply)
        broker.coordinators.start()
        await self._registration.begin_to_serve()
        self._tasks.start("heartbeats", self._registration.keep_alive())
        await broker.replicas.wait_applied()
        for configured, listener in self._listeners:
            if configured in self.config.listeners.broker:
                broker.connection_limits.open(listener)

    async def stop(self) -> None:
        """Answers what was asked, closes everything and leaves directories that need no repair."""
        for configured, listener in self._listeners:
            if configured in self.config.listeners.broker:
                listener.close()
        registration, epoch = self._registration, -1
        if registration is not None:
            with suppress(KafkaError):
                await registration.take_leave()
            epoch = registration.broker_epoch
        self.broker.coordinators.close()
        await self._close_connections()
        await self._quorum.close()
        for _, listener in self._listeners:
            listener.close()
        await self._turn_away()
        self.broker.controller.close()
        await self._tasks.close()
        self.broker.replication.close()
        self.broker.peers.close()
        self.broker.logs.close(broker_epoch=epoch)
        await self._world.background.close()

    async def abandon(self) -> None:
        """Ends it as the death of its process would: nobody is told, and nothing is put in order.
        For tests, which also see to the connections."""
        self._quorum.fail(RuntimeError("it was abandoned"))
        await self._tasks.close()
        await self._world.background.close()
        self._quorum.log.abandon()
        self.broker.logs.abandon()

    def _look_for_failure(self) -> None:
        if self._quorum.failure is not None:
            self._on_failed()

    # ---- other nodes

    def _locate_controller(self) -> Address | None:
        leader_id = self._quorum.leader_and_epoch.leader_id
        voter = None if leader_id is None else self._quorum.voters.get(leader_id)
        endpoint = None if voter is None else voter.endpoint(self._listener_name)
        return None if endpoint is None else Address(endpoint.host, endpoint.port)

    def _node_lost(self, node_id: int) -> None:
        """A connection to another replica of the metadata ended, which mostly means it is gone."""
        self.broker.suspects.add(node_id)
        if not self._tasks.is_closed:
            self._tasks.start("probe", self._probe(node_id))

    async def _probe(self, node_id: int) -> None:
        voter = self._quorum.voters.get(node_id)
        endpoint = None if voter is None else voter.endpoint(self._listener_name)
        if endpoint is None or not await is_gone(
            self._world.network,
            self._world.clock,
            Address(endpoint.host, endpoint.port),
            seconds=_PROBE_SECONDS,
            on_met=partial(self.broker.suspects.clear, node_id),
        ):
            self.broker.suspects.clear(node_id)
            return
        self.broker.suspects.add(node_id)
        self.broker.service.liveness.node_lost(node_id)
        if node_id == self._quorum.leader_and_epoch.leader_id:
            await self._world.clock.sleep(self._turn_to_stand(node_id) * _ELECTION_STEP_SECONDS)
            if node_id == self._quorum.leader_and_epoch.leader_id:
                self._quorum.leader_lost()

    def _turn_to_stand(self, lost_id: int) -> int:
        """Which of the voters that are left this one is. All notice the leader's end at once, and
        if all stood for election at once nobody would win it."""
        ids = [voter.key.id for voter in self._quorum.voters.voters if voter.key.id != lost_id]
        return ids.index(self.config.node_id) if self.config.node_id in ids else 0

    def _hurry(self) -> None:
        if self._registration is not None:
            self._registration.hurry()

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

    async def _turn_away(self) -> None:
        """Ends what other nodes connected while this one took leave of the quorum; some of it may
        still be on its way from the listener."""
        await self._world.clock.sleep(_DRAIN_STEP_SECONDS)
        for connection in list(self.broker.connections):
            connection.abort()

    async def _listen(self) -> None:
        listeners = self.config.listeners
        for configured in (*listeners.controller, *listeners.broker):
            address = Address(configured.host, configured.port)
            is_controller = configured in listeners.controller
            apis = self.broker.controller_apis if is_controller else None
            make_handler = partial(ClientConnection, self.broker, configured.name, apis)
            listener = await self._world.network.listen(address, make_handler)
            if not is_controller:
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

    async def _settle(self) -> None:
        """Loads and begins what a node that serves can do without for a moment."""
        broker = self.broker
        apis: list[HandledApi] = []
        if self.config.is_broker:
            apis += broker.apis.values()
        if self.config.listeners.controller:
            apis += broker.controller_apis.values()
        await load_all(apis, self._world.clock)
        for key in OPERATIONS:
            operation_of(key)
            await self._world.clock.sleep(0)
        from ottla.broker.housekeeping import start_housekeeping
        from ottla.controller.chores import ControllerChores

        if self.config.is_controller:
            chores = ControllerChores(broker.service.controller, self._world.clock)
            self._tasks.start("preferred leaders", chores.elect_preferred())
            self._tasks.start("unclean leaders", chores.elect_unclean())
        start_housekeeping(broker, self._world.background, self.metrics, self.config)

    def _task_failed(self, name: str, error: BaseException) -> None:
        _log.error("%s failed", name, exc_info=error)
