"""A node that makes itself known, stays known and takes its leave, without waiting for clocks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.registration import Registration
from ottla.channels import PLAINTEXT
from ottla.configs.listeners import ConfiguredListener
from ottla.controller.operations.create_topics import create_topics
from ottla.controller.operations.heartbeat import heartbeat
from ottla.controller.operations.unregister_broker import unregister_broker
from ottla.controller.service import ControllerService
from ottla.metadata import BrokerRegistration
from ottla.model import ErrorCode, KafkaError
from ottla.runtime.tasks import Tasks
from ottla.simulation import SeededDice
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationResponse
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from tests.support.controller.cluster_images import CLUSTER_ID, uuid
from tests.support.controller.simulated_controllers import World, registration_of
from tests.support.nodes.no_network import NoNetwork
from tests.support.storage.held_background import HeldBackground, settle

LISTENERS = [ConfiguredListener("PLAINTEXT", "broker.example", 9092, "PLAINTEXT")]
INTERVAL_MS, SESSION_MS = 2_000, 9_000


class Joining:
    """A node that is to be known to a controller beside it."""

    def __init__(self, world: World, service: ControllerService, *, incarnation: int = 1) -> None:
        self.world = world
        self.service = service
        self.tasks = Tasks(lambda _name, _error: None)
        controller = ActiveController(
            service,
            lambda: None,
            NoNetwork(),
            world.clock,
            SeededDice(1),
            self.tasks,
            PLAINTEXT,
            node_id=1,
            on_lost=lambda: None,
        )
        self.registration = Registration(
            controller,
            service.controller.quorum.metadata,
            world.clock,
            node_id=1,
            incarnation_id=uuid(600 + incarnation),
            heartbeat_interval_ms=INTERVAL_MS,
            session_timeout_ms=SESSION_MS,
        )

    @property
    def broker(self) -> BrokerRegistration | None:
        return self.service.controller.quorum.metadata.image.brokers.get(1)

    @property
    def is_fenced(self) -> bool:
        return self.broker is not None and self.broker.fenced

    async def join(self, cluster_id: str = CLUSTER_ID) -> None:
        """As a node does when it starts."""
        registration = self.registration
        await registration.register(
            LISTENERS,
            cluster_id=cluster_id,
            rack=None,
            directory_ids=[uuid(501)],
            previous_broker_epoch=-1,
        )
        await registration.wait_known()
        await registration.begin_to_serve()

    def keep_alive(self) -> asyncio.Task[object]:
        return self.tasks.start("heartbeats", self.registration.keep_alive())

    async def create(self, name: str, *replicas: int) -> None:
        assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=list(replicas))
        topic = CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=[assignment]
        )
        request = CreateTopicsRequest(topics=[topic])
        response = await self.service.controller.submit(create_topics, request)
        assert response.topics[0].error_code == 0, response

    async def serve_other(self) -> int:
        """Has broker 2 register and serve; its epoch."""
        registered = await self.service.serve(registration_of(2))
        assert isinstance(registered, BrokerRegistrationResponse)
        await self.beat_other(registered.broker_epoch)
        return registered.broker_epoch

    async def beat_other(self, epoch: int, *, want_shut_down: bool = False) -> bool:
        """A heartbeat of broker 2; whether it may stop."""
        offset = self.service.controller.quorum.metadata.end_offset - 1
        response = await self.service.serve(
            BrokerHeartbeatRequest(
                broker_id=2,
                broker_epoch=epoch,
                current_metadata_offset=offset,
                want_shut_down=want_shut_down,
            )
        )
        assert isinstance(response, BrokerHeartbeatResponse)
        return response.should_shut_down


def play(scene: Callable[[Joining], Coroutine[Any, Any, None]], world: World | None = None) -> None:
    world = world or World()

    async def played() -> None:
        joining = Joining(world, await world.open_service())
        await asyncio.wait_for(scene(joining), 20)
        await joining.tasks.close()

    asyncio.run(played())


def test_node_serves_without_a_moment_passing() -> None:
    async def scene(joining: Joining) -> None:
        await joining.registration.register_controller(LISTENERS)
        await joining.join()
        assert joining.broker is not None
        assert not joining.broker.fenced
        assert joining.broker.epoch == joining.registration.broker_epoch
        assert joining.world.clock.monotonic() == 0.0

    play(scene)


def test_node_that_starts_before_there_is_a_controller_waits_for_it_and_no_longer() -> None:
    world = World()
    world.background = background = HeldBackground()
    background.hold()

    async def played() -> None:
        service = world.make_service()
        joining = Joining(world, service)
        joined = asyncio.ensure_future(joining.join())
        await settle()
        service.controller.quorum.start(service)
        while not joined.done():
            await background.release()
        assert world.clock.monotonic() == 0.0
        await joined

    asyncio.run(asyncio.wait_for(played(), 20))


def test_four_waits_for_the_device_make_a_node_of_an_empty_directory() -> None:
    """The leader's first record, the cluster's, the registrations, and that the broker serves."""
    world = World()
    world.background = background = HeldBackground()
    background.hold()

    async def played() -> int:
        service = world.make_service()
        joining = Joining(world, service)
        service.controller.quorum.start(service)
        joining.tasks.start("controller", joining.registration.register_controller(LISTENERS))
        joined = asyncio.ensure_future(joining.join())
        flushes = 0
        await settle()
        while not joined.done():
            await background.release()
            flushes += 1
        await joined
        await joining.tasks.close()
        return flushes

    assert asyncio.run(asyncio.wait_for(played(), 20)) == 4


def test_node_of_another_cluster_is_refused() -> None:
    async def scene(joining: Joining) -> None:
        with pytest.raises(KafkaError, match="refused to register this broker") as refused:
            await joining.join(cluster_id="another")
        assert refused.value.code is ErrorCode.INCONSISTENT_CLUSTER_ID

    play(scene)


def test_node_whose_registration_cannot_be_written_does_not_start() -> None:
    async def scene(joining: Joining) -> None:
        joining.world.disk.limit_space(0)
        with pytest.raises(KafkaError, match="No space left"):
            await joining.join()

    play(scene)


def test_node_waits_until_its_last_incarnation_counts_as_dead() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        again = Joining(joining.world, joining.service, incarnation=2)
        joined = asyncio.ensure_future(again.join())
        clock = joining.world.clock
        while not joined.done():
            clock.advance(0.01)
            await settle()
        await joined
        assert clock.monotonic() == pytest.approx(SESSION_MS / 1_000, abs=0.15)
        assert again.registration.broker_epoch > joining.registration.broker_epoch
        # The first one is not let in again.
        with pytest.raises(KafkaError, match="STALE_BROKER_EPOCH"):
            await joining.registration.begin_to_serve()

    play(scene)


def test_heartbeats_come_at_their_interval() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        joining.keep_alive()
        for _ in range(100):
            joining.world.clock.advance(0.5)
            await settle()
        assert joining.broker is not None
        assert not joining.is_fenced

    play(scene)


def test_node_that_was_fenced_requests_its_unfencing_at_once() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        joining.keep_alive()
        await settle()
        fence = BrokerHeartbeatRequest(
            broker_id=1, broker_epoch=joining.registration.broker_epoch, want_fence=True
        )
        await joining.service.controller.submit(heartbeat, fence)
        shown = [joining.is_fenced]
        await settle()
        shown.append(joining.is_fenced)
        assert shown == [True, False]
        assert joining.world.clock.monotonic() == 0.0

    play(scene)


def test_node_that_was_unregistered_says_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        joining.keep_alive()
        await settle()
        request = UnregisterBrokerRequest(broker_id=1)
        await joining.service.controller.submit(unregister_broker, request)
        await settle()
        assert joining.broker is None
        (refused,) = {each.message for each in caplog.records if each.levelname == "ERROR"}
        assert refused == (
            "heartbeat refused: node 1 was unregistered; restart it to register it again "
            "(STALE_BROKER_EPOCH)"
        )

    play(scene)


def test_broker_that_wants_to_stop_is_not_kept_by_the_interval_of_others() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        joining.keep_alive()
        epoch = await joining.serve_other()
        await settle()
        await joining.create("a", 2, 1)
        assert not await joining.beat_other(epoch, want_shut_down=True)
        await settle()
        # Node 1 has said by now what it has read.
        assert await joining.beat_other(epoch, want_shut_down=True)
        assert joining.world.clock.monotonic() == 0.0

    play(scene)


def test_node_takes_its_leave() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        await joining.registration.controlled_shutdown()
        assert joining.is_fenced

    play(scene)


def test_node_that_never_registered_has_no_leave_to_take() -> None:
    async def scene(joining: Joining) -> None:
        await joining.registration.controlled_shutdown()
        assert joining.broker is None

    play(scene)


def test_node_whose_metadata_failed_stops_without_leave() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        beating = joining.keep_alive()
        await settle()
        joining.service.controller.quorum.fail(OSError("the disk is gone"))
        joining.registration.send_heartbeat_now()
        await asyncio.wait([beating])
        assert isinstance(beating.exception(), KafkaError)
        with pytest.raises(KafkaError, match="restart the node"):
            await joining.registration.controlled_shutdown()

    play(scene)


def test_node_that_takes_its_leave_is_not_let_in_again_by_its_own_heartbeats() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        beating = joining.keep_alive()
        await settle()
        await joining.registration.controlled_shutdown()
        # That it is fenced is news of this node, which otherwise ask for a heartbeat at once.
        await settle()
        assert joining.is_fenced
        assert beating.done()

    play(scene)


def test_node_does_not_wait_long_for_an_unreachable_controller_when_it_stops() -> None:
    async def scene(joining: Joining) -> None:
        await joining.join()
        joining.service.deactivate()
        left = asyncio.ensure_future(joining.registration.controlled_shutdown())
        clock = joining.world.clock
        while not left.done():
            clock.advance(0.01)
            await settle()
        assert clock.monotonic() == pytest.approx(2.0, abs=0.1)

    play(scene)
