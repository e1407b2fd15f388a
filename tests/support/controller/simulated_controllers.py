"""A controller over a simulated disk, which a crash can be done to."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ottla.broker.control.quorum_config import raft_config
from ottla.controller.broker_liveness import BrokerLiveness
from ottla.controller.controller import Controller
from ottla.controller.formatting import format_directory, initial_voter
from ottla.controller.metadata_log import MetadataLogConfig
from ottla.controller.metadata_log_loading import open_metadata_log
from ottla.controller.operations.create_topics import create_topics
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.register_broker import register_broker
from ottla.controller.quorum import MetadataQuorum
from ottla.controller.quorum_seams import Seams
from ottla.controller.service import ControllerService
from ottla.metadata import SUPPORTED_FEATURES
from ottla.metadata.broker import feature_structs
from ottla.model import NodeId
from ottla.raft.voters import VoterEndpoint, VoterSet
from ottla.runtime.background import Background, InlineBackground
from ottla.runtime.tasks import Tasks
from ottla.simulation.disk.disk import SimulatedDisk
from ottla.simulation.seams.clock import SimulatedClock
from ottla.simulation.seams.dice import SeededDice
from ottla.wire.messages import broker_registration as registration
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from tests.support.controller.cluster_images import CLUSTER_ID, node_config, uuid
from tests.support.nodes.no_network import NoPeers

DIRECTORY = "/data"
ENDPOINT = VoterEndpoint("CONTROLLER", "localhost", 9093)
T = TypeVar("T")


class World:
    """One host: its disk outlives the controllers that run on it."""

    def __init__(self, seed: int = 1, *, is_formatted: bool = True, **properties: str) -> None:
        self.disk = SimulatedDisk()
        self.clock = SimulatedClock()
        self.dice = SeededDice(seed)
        self.background: Background = InlineBackground()
        self.node = node_config(**properties)
        self.task_errors: list[BaseException] = []
        if is_formatted:
            self.format()

    def format(self) -> None:
        format_directory(
            self.disk,
            DIRECTORY,
            cluster_id=CLUSTER_ID,
            node_id=NodeId(1),
            directory_id=uuid(501),
            voters=VoterSet.of([initial_voter(1, uuid(501), ENDPOINT)]),
            now_ms=self.clock.now_ms(),
        )

    async def open(self) -> Controller:
        """A controller that is active, and the only one."""
        return (await self.open_service()).controller

    async def open_service(self) -> ControllerService:
        """The same, with all that belongs to it."""
        service = self.make_service()
        service.controller.quorum.start(service)
        await wait_active(service.controller)
        return service

    def make_service(self, *, is_voter: bool = True) -> ControllerService:
        """One whose quorum is not started. One that does not vote will never lead."""
        tasks = Tasks(lambda _name, error: self.task_errors.append(error))
        seams = Seams(self.disk, self.clock, self.dice, self.background, tasks)
        node = self.node
        config = MetadataLogConfig(
            log_segment_bytes=node.metadata_log_segment_bytes,
            max_record_bytes_between_snapshots=node.metadata_log_max_record_bytes_between_snapshots,
        )
        loaded = open_metadata_log(self.disk, DIRECTORY, config, now_ms=self.clock.now_ms())
        directory_id = uuid(501) if is_voter else uuid(502)
        raft = raft_config(
            node, cluster_id=CLUSTER_ID, directory_id=directory_id, endpoints=[ENDPOINT]
        )
        quorum = MetadataQuorum(seams, loaded, raft, NoPeers())
        controller = Controller(seams, quorum, cluster_id=CLUSTER_ID, node=node)
        liveness = BrokerLiveness(
            controller, self.clock, tasks, session_timeout_ms=node.broker_session_timeout_ms
        )
        return ControllerService(controller, liveness)

    def run(self, play: Callable[[Controller], Coroutine[Any, Any, T]]) -> T:
        """Opens a controller and plays with it."""

        async def played() -> T:
            return await play(await self.open())

        return asyncio.run(played())


async def wait_active(controller: Controller) -> None:
    """Returns when everything in the log is committed, the controller's own first records too."""
    quorum = controller.quorum
    while not controller.is_active or quorum.metadata.end_offset < quorum.log.log_end_offset:
        if quorum.failure is not None:
            raise quorum.failure
        await asyncio.sleep(0)  # noqa: TID251 - lets the flush run, waits for nothing


def registration_of(broker_id: int, *, incarnation: int = 1) -> BrokerRegistrationRequest:
    return BrokerRegistrationRequest(
        broker_id=broker_id,
        cluster_id=CLUSTER_ID,
        incarnation_id=uuid(900 + 100 * broker_id + incarnation),
        features=feature_structs(registration.Feature, SUPPORTED_FEATURES),
        rack=None,
        log_dirs=[uuid(500 + broker_id)],
    )


async def serve_broker(controller: Controller, *, incarnation: int = 1) -> int:
    """Registers broker 1 and lets it serve; returns its epoch."""
    registered = await controller.submit(
        register_broker, registration_of(1, incarnation=incarnation)
    )
    assert registered.error_code == 0
    served = await controller.submit(
        heartbeat,
        BrokerHeartbeatRequest(
            broker_id=1,
            broker_epoch=registered.broker_epoch,
            current_metadata_offset=controller.quorum.metadata.end_offset,
        ),
    )
    assert not served.is_fenced
    return registered.broker_epoch


async def create(controller: Controller, *names: str, partitions: int = 1) -> CreateTopicsResponse:
    topics = [
        CreatableTopic(name=name, num_partitions=partitions, replication_factor=1) for name in names
    ]
    return await controller.submit(create_topics, CreateTopicsRequest(topics=topics))
