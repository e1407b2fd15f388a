"""A node: controller and broker in one process. Starts and stops all parts in order.

made ──start──▶ locked, identified ──▶ metadata loaded ──▶ logs open ──▶ listening ──▶ serving
                                                                            │
                                   stopped ◀── logs closed ◀── drained ◀──stop
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from ottla.broker.broker import Broker
from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.identity import controller_endpoints, identify
from ottla.broker.control.lost_nodes import LostNodes
from ottla.broker.control.node_progress import NodeProgress, NodeStage
from ottla.broker.control.outgoing_security import outgoing_channels
from ottla.broker.control.quorum_config import raft_config
from ottla.broker.control.quorum_peers import QuorumPeers
from ottla.broker.control.quorum_watch import QuorumWatch
from ottla.broker.control.registration import Registration
from ottla.broker.host_seams import HostSeams
from ottla.broker.network.draining import close_connections, turn_away
from ottla.broker.settling import settle
from ottla.configs import NodeConfig
from ottla.configs.listeners import ConfiguredListener as ConfiguredListener
from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.controller import Controller
from ottla.controller.metadata_log import MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.quorum import MetadataQuorum
from ottla.controller.quorum_seams import Seams
from ottla.controller.service import ControllerService
from ottla.metrics import Metrics
from ottla.model import KafkaError
from ottla.runtime.network import Address, Listener
from ottla.runtime.tasks import Tasks
from ottla.storage.directories.clean_shutdown import previous_broker_epoch
from ottla.storage.directories.foreign_files import refuse_foreign_files
from ottla.storage.directories.log_store import LogStore
from ottla.storage.errors import DirectoryFailedError

_log = logging.getLogger(__name__)


class Node:
    """Belongs to one event loop. `start` once, then `stop` once.

    `on_failed` is called when the node can no longer take part in the cluster; the caller must
    then stop it.
    """

    def __init__(
        self, config: NodeConfig, seams: HostSeams, *, on_failed: Callable[[], None] = lambda: None
    ) -> None:
        self.config = config
        self._on_failed = on_failed
        self.metrics = Metrics()
        self.progress = NodeProgress()
        self._seams = seams
        self._tasks = Tasks(self._task_failed)
        self._listeners: list[tuple[ConfiguredListener, Listener]] = []
        self._registration: Registration | None = None
        # Tasks that send registrations and heartbeats to the active controller.
        self._reporting: list[asyncio.Task[object]] = []
        self._has_started = self._is_stopping = False
        # Why the node can no longer take part in the cluster, or None.
        self.failure: BaseException | None = None

    @property
    def addresses(self) -> dict[str, Address]:
        """The bound address of each listener, by listener name."""
        return {configured.name: listener.address for configured, listener in self._listeners}

    @property
    def opened_broker(self) -> Broker | None:
        """None until the metadata log is open."""
        return getattr(self, "broker", None)

    def seconds_without_heartbeat(self, now: float) -> float:
        """How long the active controller has not answered this broker."""
        registration = self._registration
        return 0.0 if registration is None else now - registration.heartbeat_answered_at

    async def start(self) -> None:
        """Returns when the node serves requests. Raises `StorageError`, `OSError`,
        `InvalidConfigError`, or `KafkaError` if the controller rejects the node. Releases all
        resources if it raises or is cancelled; it may be cancelled at any time."""
        config, host = self.config, self._seams
        seams = Seams(host.disk, host.clock, host.dice, host.background, self._tasks)
        # Before anything is written: what cannot be secured is not started.
        self._channels = outgoing_channels(config, seams)
        refuse_foreign_files(host.disk, [config.metadata_log_dir, *config.log_dirs])
        logs = LogStore(host.disk, config.log_dirs)
        logs.on_offline = partial(self._directory_lost, logs)
        try:
            self._open_metadata(logs, seams)
        except BaseException:
            logs.abandon()
            raise
        try:
            await self._join(logs)
            if config.is_broker:
                await self._begin_to_serve()
            if self.failure is not None:
                raise self.failure
        except BaseException:
            await self.stop()
            raise
        self._has_started = True
        self.progress.enter(NodeStage.RUNNING)
        self._tasks.start("settle", settle(self.broker))

    def _open_metadata(self, logs: LogStore, seams: Seams) -> None:
        host, config = self._seams, self.config
        identity = identify(
            host.disk,
            [directory.path for directory in logs.directories],
            config=config,
            dice=host.dice,
            now_ms=host.clock.now_ms(),
        )
        cluster_id, directory_id = identity.cluster_id, identity.directory_id
        assert directory_id is not None, "every directory is given an id"
        loaded = open_metadata_log(
            host.disk,
            config.metadata_log_dir,
            MetadataLogConfig(
                log_segment_bytes=config.metadata_log_segment_bytes,
                max_record_bytes_between_snapshots=(
                    config.metadata_log_max_record_bytes_between_snapshots
                ),
            ),
            now_ms=host.clock.now_ms(),
        )
        peers = QuorumPeers(
            host.network,
            host.clock,
            host.dice,
            self._tasks,
            self._channels.to_controllers,
            node_id=config.node_id,
            timeout_ms=config.controller_quorum_request_timeout_ms,
            on_lost=lambda node_id: self._lost_nodes.add(node_id),
        )
        raft = raft_config(
            config,
            cluster_id=cluster_id,
            directory_id=directory_id,
            endpoints=controller_endpoints(config),
        )
        self._quorum = MetadataQuorum(seams, loaded, raft, peers)
        self._quorum.listen_leader(self._look_for_failure)
        self._watch = QuorumWatch(
            self._quorum,
            peers.outcomes,
            host.clock,
            node_id=config.node_id,
            listener_name=raft.listener_name,
            bootstrap_servers=[Address(*server) for server in raft.bootstrap_servers],
        )
        controller = Controller(seams, self._quorum, cluster_id=cluster_id, node=config)
        liveness = BrokerLiveness(
            controller,
            host.clock,
            self._tasks,
            session_timeout_ms=config.broker_session_timeout_ms,
        )
        self.broker = self._make_broker(ControllerService(controller, liveness), logs)
        self._lost_nodes = LostNodes(
            self._quorum,
            self.broker.suspects,
            liveness,
            host.network,
            host.clock,
            self._tasks,
            node_id=config.node_id,
            listener_name=raft.listener_name,
        )

    def _make_broker(self, service: ControllerService, logs: LogStore) -> Broker:
        seams = self._seams
        controller = ActiveController(
            service,
            self._locate_controller,
            seams.network,
            seams.clock,
            seams.dice,
            self._tasks,
            self._channels.to_controllers,
            node_id=self.config.node_id,
            on_lost=self._send_heartbeat_now,
        )
        return Broker(
            self.config,
            seams,
            service,
            controller,
            logs,
            self._tasks,
            self.metrics,
            self._channels.to_brokers,
        )

    async def _join(self, logs: LogStore) -> None:
        """Joins the quorum and listens. A broker is registered when this returns."""
        config, host = self.config, self._seams
        self.progress.enter(NodeStage.REGISTERING)
        previous_epoch = previous_broker_epoch(host.disk, config.log_dirs)
        directory_ids = logs.directory_ids
        self._quorum.start(self.broker.service)
        await self._listen()
        self._tasks.start("certificates", self.broker.certificates.watch())
        self._registration = Registration(
            self.broker.controller,
            self.broker.metadata,
            host.clock,
            node_id=config.node_id,
            incarnation_id=host.dice.uuid(),
            heartbeat_interval_ms=config.broker_heartbeat_interval_ms,
            session_timeout_ms=config.broker_session_timeout_ms,
            offline_directories=lambda: [
                each for each in directory_ids if each not in logs.directory_ids
            ],
        )
        self._tasks.start("watch quorum", self._watch.report(self._is_registered))
        if config.is_controller:
            registering = self._registration.register_controller(
                config.listeners.advertised_controller
            )
            self._reporting.append(self._tasks.start("register controller", registering))
        if not config.is_broker:
            # A controller has no partition replicas, but it applies dynamic configs.
            self.broker.replicas.follow_broker_configs()
            self.broker.metadata.listen(self.broker.replicas.apply)
            return
        await self._registration.register(
            self._advertised(),
            cluster_id=self.broker.cluster.cluster_id,
            rack=config.broker_rack,
            directory_ids=directory_ids,
            previous_broker_epoch=previous_epoch,
        )
        await self._registration.wait_known()

    async def _begin_to_serve(self) -> None:
        broker = self.broker
        assert self._registration is not None
        self.progress.enter(NodeStage.RECOVERING)
        broker.metadata.listen(broker.replicas.apply)
        await broker.replicas.load(progress=self.progress.log_opened)
        self.progress.enter(NodeStage.UNFENCING)
        broker.metadata.listen(broker.coordinators.apply)
        broker.coordinators.start()
        await self._registration.begin_to_serve()
        self._reporting.append(self._tasks.start("heartbeats", self._registration.keep_alive()))
        await broker.replicas.wait_applied()
        for configured, listener in self._listeners:
            if configured in self.config.listeners.broker:
                broker.connection_limits.open(configured.name, listener)

    async def stop(self) -> None:
        """Sends responses that are ready, then closes everything cleanly: the next start needs no
        log recovery."""
        self._is_stopping = True
        self.progress.enter(NodeStage.STOPPING)
        self._quorum.begin_shutdown()
        for configured, listener in self._listeners:
            if configured in self.config.listeners.broker:
                listener.close()
        registration, epoch = self._registration, -1
        if registration is not None:
            if self._has_started:
                with suppress(KafkaError):
                    await registration.controlled_shutdown()
            epoch = registration.broker_epoch
        for task in self._reporting:
            task.cancel()
        self.broker.coordinators.close()
        await close_connections(self.broker.connections, self._seams.clock)
        await self._quorum.close()
        for _, listener in self._listeners:
            listener.close()
        await turn_away(self.broker.connections, self._seams.clock)
        self.broker.controller.close()
        if self.broker.audit_log is not None:
            await self.broker.audit_log.close()
        await self._tasks.close()
        self.broker.replication.close()
        self.broker.peers.close()
        self.broker.logs.close(broker_epoch=epoch)
        await self._seams.background.close()

    async def abandon(self) -> None:
        """Stops like a killed process: no controlled shutdown, no clean-shutdown files. Only for
        tests, which close the connections themselves."""
        self._is_stopping = True
        self._quorum.fail(RuntimeError("the node was abandoned"))
        await self._tasks.close()
        await self._seams.background.close()
        self._quorum.log.abandon()
        self.broker.logs.abandon()

    def _look_for_failure(self) -> None:
        if self._quorum.failure is not None and self.failure is None and not self._is_stopping:
            self.failure = self._quorum.failure
            self._on_failed()

    def _directory_lost(self, logs: LogStore, path: str) -> None:
        """Fails the node if it lost the metadata log directory or its last log directory."""
        if self._is_stopping or self.failure is not None:
            return
        if path == self.config.metadata_log_dir:
            which = "the directory of the metadata log has failed"
        elif not logs.directories:
            which = "all log directories have failed"
        else:
            return
        self.failure = DirectoryFailedError(
            f"{which} ({logs.failures_text}); free space or repair the disk, then start the node "
            "again"
        )
        if path == self.config.metadata_log_dir:
            self._quorum.fail(self.failure)
        self._on_failed()

    # ---- controller and listeners

    def _locate_controller(self) -> Address | None:
        leader_id = self._quorum.leader_and_epoch.leader_id
        return None if leader_id is None else self._lost_nodes.controller_address(leader_id)

    def _is_registered(self) -> bool:
        registration = self._registration
        return not self.config.is_broker or (registration is not None and registration.is_known)

    def _send_heartbeat_now(self) -> None:
        if self._registration is not None:
            self._registration.send_heartbeat_now()

    async def _listen(self) -> None:
        listeners = self.config.listeners
        for configured in (*listeners.controller, *listeners.broker):
            address = Address(configured.host, configured.port)
            is_controller = configured in listeners.controller
            make_handler = partial(
                self.broker.client_connection, configured.name, is_controller=is_controller
            )
            self.broker.listeners.open(configured.name)
            secured = self.broker.listeners.secure(configured.name, make_handler)
            listener = await self._seams.network.listen(address, secured)
            if is_controller:
                self.broker.connection_limits.open(configured.name, listener)
            else:
                # Registration needs the bound port, but clients must wait for an unfenced broker.
                listener.pause_accepting()
            self._listeners.append((configured, listener))

    def _advertised(self) -> list[ConfiguredListener]:
        """The advertised listeners. An empty host is replaced with the host name, port 0 with the
        bound port."""
        ports = {configured.name: found.address.port for configured, found in self._listeners}
        return [
            advertised._replace(
                host=advertised.host or self._seams.network.host_name(),
                port=advertised.port or ports[advertised.name],
            )
            for advertised in self.config.listeners.advertised
        ]

    def _task_failed(self, name: str, error: BaseException) -> None:
        _log.error("%s failed", name, exc_info=error)
