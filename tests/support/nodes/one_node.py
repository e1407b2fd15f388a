"""A node without a network: handlers, a real controller and logs on simulated disks.

Its event loop runs while something is asked of it, so tests read as plain calls. Requests and
responses go through their bytes in the version asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from ottla.broker.broker import Broker
from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.identity import controller_endpoints, identify
from ottla.broker.control.quorum_config import raft_config
from ottla.broker.host_seams import HostSeams
from ottla.broker.network.handling import RequestContext
from ottla.broker.network.pending import Pending
from ottla.channels import PLAINTEXT
from ottla.configs import NodeConfig
from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.controller import Controller
from ottla.controller.metadata_log import MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.register_broker import register_broker
from ottla.controller.quorum import MetadataQuorum
from ottla.controller.quorum_seams import Seams
from ottla.controller.service import ControllerService
from ottla.metadata import SUPPORTED_FEATURES, MetadataImage
from ottla.metadata.broker import feature_structs
from ottla.metrics import Metrics
from ottla.model import NodeId, Uuid
from ottla.runtime.background import Background, InlineBackground
from ottla.runtime.tasks import Tasks
from ottla.security.acls.rights import UNRESTRICTED, Rights
from ottla.simulation import SeededDice, SimulatedDisk
from ottla.simulation.seams.clock import SimulatedClock
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log.log import Log
from ottla.wire.apis import response_class
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.broker_registration import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.wire.records import read_header
from ottla.wire.schema import Message
from tests.support.controller.simulated_controllers import wait_active
from tests.support.nodes.no_network import NoNetwork, NoPeers

NODE_ID = NodeId(1)
LISTENER = "PLAINTEXT"
HOST, PORT = "broker.example", 9092
# Longer than any test: this node sends no heartbeats.
_SESSION_TIMEOUT_MS = 10**15

T = TypeVar("T")


class OneNode:
    """Started when made. `crash` and `stop` end it; another one can be made on the same disk."""

    def __init__(
        self,
        disk: SimulatedDisk | None = None,
        *,
        directories: tuple[str, ...] = ("/data",),
        configs: Mapping[str, str] | None = None,
        background: Background | None = None,
        seed: int = 0,
    ) -> None:
        self.disk = disk or SimulatedDisk()
        self.clock = SimulatedClock()
        self.errors: list[BaseException] = []
        self._dice = SeededDice(seed)
        self._is_over = False
        self._runner = asyncio.Runner()
        self._tasks = Tasks(lambda _name, error: self.errors.append(error))
        properties = {
            "log.dirs": ",".join(directories),
            "max.incremental.fetch.session.cache.slots": "10",
            "socket.request.max.bytes": str(1 << 20),
            "fetch.max.bytes": str(1 << 20),
            "ottla.delete.retention.ms": "0",
            **(configs or {}),
        }
        listen = None if "listeners" in properties else f"{HOST}:{PORT}"
        config = NodeConfig.of(properties, listen=listen)
        logs = LogStore(self.disk, directories)
        self.controller = self._open_controller(config, logs)
        service = ControllerService(
            self.controller,
            BrokerLiveness(
                self.controller, self.clock, self._tasks, session_timeout_ms=_SESSION_TIMEOUT_MS
            ),
        )
        network = NoNetwork()
        seams = HostSeams(
            self.disk, self.clock, self._dice, network, background or InlineBackground()
        )
        active = ActiveController(
            service,
            lambda: None,
            network,
            self.clock,
            self._dice,
            self._tasks,
            PLAINTEXT,
            node_id=NODE_ID,
            on_lost=lambda: None,
        )
        self.broker = Broker(
            config, seams, service, active, logs, self._tasks, Metrics(), PLAINTEXT
        )
        self.run(self._start(service))

    def _open_controller(self, config: NodeConfig, logs: LogStore) -> Controller:
        identity = identify(
            self.disk,
            [directory.path for directory in logs.directories],
            config=config,
            dice=self._dice,
            now_ms=self.clock.now_ms(),
        )
        assert identity.directory_id is not None
        seams = Seams(self.disk, self.clock, self._dice, InlineBackground(), self._tasks)
        loaded = open_metadata_log(
            self.disk, config.metadata_log_dir, MetadataLogConfig(), now_ms=self.clock.now_ms()
        )
        raft = raft_config(
            config,
            cluster_id=identity.cluster_id,
            directory_id=identity.directory_id,
            endpoints=controller_endpoints(config),
        )
        quorum = MetadataQuorum(seams, loaded, raft, NoPeers())
        return Controller(seams, quorum, cluster_id=identity.cluster_id, node=config)

    @property
    def image(self) -> MetadataImage:
        return self.broker.cluster.image

    async def _start(self, service: ControllerService) -> None:
        self.controller.quorum.start(service)
        await wait_active(self.controller)
        await self.broker.replicas.load()
        self.broker.metadata.listen(self.broker.replicas.apply)
        await self._register()

    async def _register(self) -> None:
        registered = await self.controller.submit(
            register_broker,
            BrokerRegistrationRequest(
                broker_id=NODE_ID,
                cluster_id=self.controller.cluster_id,
                incarnation_id=self._dice.uuid(),
                listeners=[Listener(name=LISTENER, host=HOST, port=PORT)],
                features=feature_structs(Feature, SUPPORTED_FEATURES),
                rack=None,
                log_dirs=[cast(Uuid, directory.id) for directory in self.broker.logs.directories],
            ),
        )
        assert registered.error_code == 0
        beat = BrokerHeartbeatRequest(
            broker_id=NODE_ID,
            broker_epoch=registered.broker_epoch,
            current_metadata_offset=registered.broker_epoch,
        )
        assert not (await self.controller.submit(heartbeat, beat)).is_fenced
        await self.broker.replicas.wait_applied()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        result = self._runner.run(coroutine)
        assert not self.errors, self.errors
        return result

    def send_request(
        self,
        request: Message,
        version: int,
        *,
        listener: str = LISTENER,
        rights: Rights = UNRESTRICTED,
    ) -> Any:
        """The response to a request, as a client gets it."""
        return self.run(self.answer(request, version, listener=listener, rights=rights))

    async def answer(
        self,
        request: Message,
        version: int,
        *,
        listener: str = LISTENER,
        rights: Rights = UNRESTRICTED,
    ) -> Any:
        key = request.api_key
        assert key is not None
        sent = type(request).decode(request.encode(version), version)
        api = self.broker.apis[key]
        context = self.context(version, listener=listener, rights=rights.declaring(api.rights))
        answer = api.handler(context, sent)
        assert answer is not None
        # What follows an answer comes before the next request.
        self.clock.advance(0)
        if isinstance(answer, Pending):
            response = await _resolved(answer)
        else:
            response = answer if isinstance(answer, Message) else await answer
        return response_class(key).decode(response.encode(version), version)

    def send_to_controller(
        self, request: Message, version: int, *, rights: Rights = UNRESTRICTED
    ) -> Any:
        """The response to a request that comes over a controller listener."""
        return self.run(self._answer_as_controller(request, version, rights))

    async def _answer_as_controller(self, request: Message, version: int, rights: Rights) -> Any:
        key = request.api_key
        assert key is not None
        sent = type(request).decode(request.encode(version), version)
        api = self.broker.controller_apis[key]
        context = self.context(version, listener="CONTROLLER", rights=rights.declaring(api.rights))
        answer: Any = api.handler(context, sent)
        response = answer if isinstance(answer, Message) else await answer
        return response_class(key).decode(response.encode(version), version)

    def context(
        self, version: int, *, listener: str = LISTENER, rights: Rights = UNRESTRICTED
    ) -> RequestContext:
        return RequestContext(version, "test", "127.0.0.1", listener, rights=rights)

    def create_topic(
        self, name: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> Uuid:
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[
                CreatableTopicConfig(name=name, value=value)
                for name, value in (configs or {}).items()
            ],
        )
        response: CreateTopicsResponse = self.send_request(CreateTopicsRequest(topics=[topic]), 7)
        (result,) = response.topics
        assert result.error_code == 0, result.error_message
        return result.topic_id

    def log(self, topic: str, index: int = 0) -> Log:
        return self.broker.partitions.by_name(topic, index).require_log()

    def append(self, topic: str, *batches: bytearray, index: int = 0) -> None:
        """Appends as for a client, without verifying transactions."""
        partition = self.broker.partitions.by_name(topic, index)
        now_ms = self.clock.now_ms()
        for batch in batches:
            header = read_header(batch)
            verification = None
            if header.is_transactional:
                verification = partition.require_log().producers.state.start_verification(
                    producer_id=header.producer_id,
                    producer_epoch=header.producer_epoch,
                    sequence=header.base_sequence,
                    supports_epoch_bump=False,
                    now_ms=now_ms,
                )
            partition.append(batch, now_ms=now_ms, verification=verification)

    def names(self, directory: str = "/data") -> list[str]:
        """The directories of partitions in a log directory."""
        return [
            name
            for name in self.disk.list_directory(directory)
            if self.disk.is_directory(f"{directory}/{name}") and name != "__cluster_metadata-0"
        ]

    def stop(self) -> None:
        """Ends cleanly."""
        self.run(self.controller.quorum.close())
        self.broker.logs.close(broker_epoch=self.broker.cluster.image.brokers[NODE_ID].epoch)
        self.abandon()

    def crash(self) -> SimulatedDisk:
        """Ends as by SIGKILL, and hands over the disk."""
        self.abandon()
        self.disk.kill()
        return self.disk

    def abandon(self) -> None:
        """Lets go of the event loop, once."""
        if not self._is_over:
            self._is_over = True
            self._runner.run(self._tasks.close())
            self._runner.close()


async def _resolved(pending: Pending) -> Message:
    resolved = asyncio.Event()
    pending.when_resolved(resolved.set)
    if pending.response is None:
        await resolved.wait()
    assert pending.response is not None
    return pending.response


StartNode: TypeAlias = Callable[..., OneNode]
