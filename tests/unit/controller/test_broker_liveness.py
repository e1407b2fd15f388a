"""Brokers that register, send heartbeats, leave or fail, as the active controller sees them."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ottla.controller.operations.create_topics import create_topics
from ottla.controller.service import ControllerService
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.broker_registration import BrokerRegistrationResponse
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from tests.support.controller.simulated_controllers import World, registration_of
from tests.support.storage.held_background import HeldBackground, settle

# Kafka's broker.session.timeout.ms.
SESSION_SECONDS = 9.0
GRACE_SECONDS = 0.1


class Connection:
    """A broker's, which a test can end."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def when_closed(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def close(self) -> None:
        for callback in self._callbacks:
            callback()


class Cluster:
    """A controller, and brokers as far as they talk to it."""

    def __init__(self, world: World, service: ControllerService) -> None:
        self.world = world
        self.service = service
        self.epochs: dict[int, int] = {}

    @property
    def image(self) -> MetadataImage:
        return self.service.controller.quorum.metadata.image

    def is_fenced(self, broker_id: int) -> bool:
        return self.image.brokers[broker_id].fenced

    async def register(self, broker_id: int, *, incarnation: int = 1) -> ErrorCode:
        request = registration_of(broker_id, incarnation=incarnation)
        response = await self.service.serve(request)
        assert isinstance(response, BrokerRegistrationResponse)
        if response.error_code == ErrorCode.NONE:
            self.epochs[broker_id] = response.broker_epoch
        return ErrorCode(response.error_code)

    async def beat(
        self,
        broker_id: int,
        *,
        connection: Connection | None = None,
        offset: int | None = None,
        want_shut_down: bool = False,
    ) -> BrokerHeartbeatResponse:
        end_offset = self.service.controller.quorum.metadata.end_offset
        request = BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=self.epochs[broker_id],
            current_metadata_offset=end_offset - 1 if offset is None else offset,
            want_shut_down=want_shut_down,
        )
        response = await self.service.serve(request, connection=connection)
        assert isinstance(response, BrokerHeartbeatResponse)
        return response

    async def serve(self, broker_id: int) -> Connection:
        """Has a broker register and serve; the connection that its heartbeats come over."""
        assert await self.register(broker_id) is ErrorCode.NONE
        connection = Connection()
        assert not (await self.beat(broker_id, connection=connection)).is_fenced
        return connection

    async def create(self, name: str, *replicas: int) -> None:
        assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=list(replicas))
        topic = CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=[assignment]
        )
        request = CreateTopicsRequest(topics=[topic])
        response = await self.service.controller.submit(create_topics, request)
        assert response.topics[0].error_code == 0, response

    def leader(self, name: str) -> int:
        return self.image.topics.by_name[name].partitions[0].leader

    async def pass_time(self, seconds: float) -> None:
        """From one thing that happens to the next."""
        clock = self.world.clock
        end = clock.monotonic() + seconds
        await settle()
        while (deadline := clock.next_deadline()) is not None and deadline <= end:
            clock.advance(deadline - clock.monotonic())
            await settle()
        clock.advance(end - clock.monotonic())


def play(scene: Callable[[Cluster], Coroutine[Any, Any, None]], world: World | None = None) -> None:
    world = world or World()

    async def played() -> None:
        await scene(Cluster(world, await world.open_service()))
        assert not world.task_errors, world.task_errors

    asyncio.run(played())


def test_silent_broker_is_fenced_after_its_session_and_its_partitions_go_to_others() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        await cluster.serve(2)
        await cluster.create("a", 1, 2)
        assert cluster.leader("a") == 1
        await cluster.pass_time(SESSION_SECONDS - 1)
        await cluster.beat(2)
        await cluster.pass_time(0.9)
        assert not cluster.is_fenced(1)
        await cluster.pass_time(0.2)
        assert cluster.is_fenced(1)
        assert not cluster.is_fenced(2)
        assert cluster.leader("a") == 2

    play(scene)


def test_heartbeats_keep_a_broker_serving() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        for _ in range(10):
            await cluster.pass_time(2.0)
            await cluster.beat(1)
        assert not cluster.is_fenced(1)

    play(scene)


def test_fenced_broker_serves_again_after_a_heartbeat() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        await cluster.pass_time(SESSION_SECONDS)
        assert cluster.is_fenced(1)
        assert not (await cluster.beat(1)).is_fenced
        await cluster.pass_time(SESSION_SECONDS - 1)
        assert not cluster.is_fenced(1)

    play(scene)


def test_closed_connection_fences_after_the_grace() -> None:
    async def scene(cluster: Cluster) -> None:
        connection = await cluster.serve(1)
        connection.close()
        await cluster.pass_time(GRACE_SECONDS / 2)
        assert not cluster.is_fenced(1)
        await cluster.pass_time(GRACE_SECONDS)
        assert cluster.is_fenced(1)

    play(scene)


def test_broker_that_connects_anew_within_the_grace_serves_on() -> None:
    async def scene(cluster: Cluster) -> None:
        connection = await cluster.serve(1)
        connection.close()
        await cluster.pass_time(GRACE_SECONDS / 2)
        await cluster.beat(1, connection=Connection())
        await cluster.pass_time(1.0)
        assert not cluster.is_fenced(1)

    play(scene)


def test_connection_that_ends_while_its_heartbeat_waits_counts() -> None:
    world = World()
    world.background = background = HeldBackground()

    async def scene(cluster: Cluster) -> None:
        await cluster.register(1)
        background.hold()
        connection = Connection()
        beating = asyncio.ensure_future(cluster.beat(1, connection=connection))
        await settle()
        connection.close()
        assert not beating.done()
        await background.release()
        assert not (await beating).is_fenced
        await cluster.pass_time(2 * GRACE_SECONDS)
        await background.release()
        assert cluster.is_fenced(1)

    play(scene, world)


def test_node_whose_port_is_closed_is_fenced_at_once() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        cluster.service.liveness.node_lost(1)
        await cluster.pass_time(0.001)
        assert cluster.is_fenced(1)

    play(scene)


def test_lost_node_is_remembered_until_the_controller_is_active() -> None:
    """Often it was the last controller."""

    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        await cluster.serve(2)
        cluster.service.deactivate()
        cluster.service.liveness.node_lost(1)
        await cluster.pass_time(1.0)
        assert not cluster.is_fenced(1)
        cluster.service.activate(2)
        await cluster.pass_time(0.001)
        assert cluster.is_fenced(1)
        assert not cluster.is_fenced(2)

    play(scene)


def test_lost_node_that_sends_a_heartbeat_is_not_considered_dead() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        cluster.service.liveness.node_lost(1)
        await cluster.pass_time(0.001)
        await cluster.beat(1)
        cluster.service.deactivate()
        cluster.service.activate(2)
        await cluster.pass_time(1.0)
        assert not cluster.is_fenced(1)

    play(scene)


def test_next_incarnation_of_a_lost_node_is_not_held_for_dead() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        cluster.service.deactivate()
        cluster.service.liveness.node_lost(1)
        cluster.service.activate(2)
        assert await cluster.register(1, incarnation=2) is ErrorCode.NONE
        await cluster.beat(1)
        cluster.service.deactivate()
        cluster.service.activate(3)
        await cluster.pass_time(1.0)
        assert not cluster.is_fenced(1)

    play(scene)


def test_new_controller_gives_every_broker_a_whole_session() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        await cluster.pass_time(SESSION_SECONDS - 1)
        cluster.service.deactivate()
        cluster.service.activate(2)
        await cluster.pass_time(SESSION_SECONDS - 1)
        assert not cluster.is_fenced(1)
        await cluster.pass_time(2.0)
        assert cluster.is_fenced(1)

    play(scene)


def test_controller_that_is_not_active_fences_no_broker_and_takes_no_heartbeat() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        cluster.service.deactivate()
        await cluster.pass_time(2 * SESSION_SECONDS)
        assert not cluster.is_fenced(1)
        for requested in (cluster.beat(1), cluster.register(2)):
            with pytest.raises(KafkaError) as refused:
                await requested
            assert refused.value.code is ErrorCode.NOT_CONTROLLER

    play(scene)


def test_second_node_with_a_living_brokers_id_is_refused() -> None:
    async def scene(cluster: Cluster) -> None:
        connection = await cluster.serve(1)
        again = await cluster.register(1, incarnation=2)
        assert again is ErrorCode.DUPLICATE_BROKER_REGISTRATION
        # Its next incarnation comes back faster than it is fenced.
        connection.close()
        assert await cluster.register(1, incarnation=2) is ErrorCode.NONE
        await cluster.pass_time(1.0)
        assert cluster.is_fenced(1)

    play(scene)


def test_unregistered_broker_has_no_session() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        await cluster.service.serve(UnregisterBrokerRequest(broker_id=1))
        assert not cluster.image.brokers
        await cluster.pass_time(2 * SESSION_SECONDS)

    play(scene)


def test_fencing_that_fails_is_tried_again_now_and_then() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        disk = cluster.world.disk
        disk.limit_space(0)
        await cluster.pass_time(SESSION_SECONDS)
        writes = disk.counters.writes
        for _ in range(10):
            await cluster.pass_time(0.01)
        # Not in every turn of the loop.
        assert disk.counters.writes - writes <= 2
        assert not cluster.is_fenced(1)
        disk.limit_space(None)
        await cluster.pass_time(1.0)
        assert cluster.is_fenced(1)

    play(scene)


def test_broker_that_wants_to_stop_may_when_all_others_know() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        await cluster.serve(2)
        await cluster.create("a", 1, 2)
        known = cluster.service.controller.quorum.metadata.end_offset - 1
        await cluster.beat(2, offset=known)
        requested = await cluster.beat(1, want_shut_down=True)
        assert not requested.should_shut_down
        assert cluster.leader("a") == 2
        # Broker 2 has not read that it leads now.
        await cluster.beat(2, offset=known)
        assert not (await cluster.beat(1, want_shut_down=True)).should_shut_down
        await cluster.beat(2)
        assert (await cluster.beat(1, want_shut_down=True)).should_shut_down
        assert cluster.is_fenced(1)

    play(scene)


def test_dead_broker_does_not_keep_another_from_stopping_for_long() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        connection = await cluster.serve(2)
        await cluster.create("a", 1, 2)
        assert not (await cluster.beat(1, want_shut_down=True)).should_shut_down
        connection.close()
        await cluster.pass_time(2 * GRACE_SECONDS)
        assert cluster.is_fenced(2)
        assert (await cluster.beat(1, want_shut_down=True)).should_shut_down

    play(scene)


def test_last_broker_stops_at_once() -> None:
    async def scene(cluster: Cluster) -> None:
        await cluster.serve(1)
        await cluster.create("a", 1)
        answers = [await cluster.beat(1, want_shut_down=True) for _ in range(3)]
        assert answers[-1].should_shut_down

    play(scene)
