"""The active controller as brokers ask it: here, elsewhere, nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from ottla.broker.control.active_controller import ActiveController, ForwardingLane
from ottla.channels import PLAINTEXT, ChannelError
from ottla.controller.service import ControllerService
from ottla.model import ErrorCode, KafkaError
from ottla.raft.decisions import LeaderAndEpoch
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address, Network
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tasks import Tasks
from ottla.security.acls.rights import UNRESTRICTED
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.wire.messages.describe_quorum import DescribeQuorumRequest
from ottla.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from ottla.wire.messages.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from ottla.wire.requests import decode_request, encode_response
from ottla.wire.schema import Message
from tests.support.controller.simulated_controllers import World, create, serve_broker
from tests.support.nodes.no_network import NoNetwork
from tests.support.nodes.one_node import OneNode
from tests.support.nodes.scripted_node import ANY_PORT, ScriptedNode, until
from tests.support.storage.held_background import HeldBackground, settle

# Cannot be repeated, and can.
NO_TOPIC = CreateTopicsRequest()
FEATURES = UpdateFeaturesRequest()


class Forwarding:
    """A broker's way to the controller, from a node whose own is the given one."""

    def __init__(
        self,
        service: ControllerService,
        *,
        network: Network | None = None,
        clock: Clock | None = None,
        address: Address | None = None,
    ) -> None:
        self.address = address
        self.lost = 0
        self.errors: list[BaseException] = []
        self.tasks = Tasks(lambda _name, error: self.errors.append(error))
        self.controller = ActiveController(
            service,
            lambda: self.address,
            network or SystemNetwork(),
            clock or SystemClock(),
            SeededDice(1),
            self.tasks,
            PLAINTEXT,
            node_id=2,
            on_lost=self._on_lost,
        )

    def _on_lost(self) -> None:
        self.lost += 1

    async def close(self) -> None:
        self.controller.close()
        await self.tasks.close()
        assert not self.errors


def topics(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    )


async def bystander(world: World | None = None) -> ControllerService:
    """The controller of a node that knows of no quorum, and so leads none."""
    return (world or World()).make_service(is_voter=False)


def refusing(times: int, code: ErrorCode) -> Callable[[Message], Message]:
    """Answers envelopes with an error so often, and then with what is in them."""
    calls = 0

    def answer(request: Message) -> Message:
        nonlocal calls
        calls += 1
        if calls <= times:
            return EnvelopeResponse(error_code=code)
        return enveloped(request, UpdateFeaturesResponse(error_message=f"asked {calls} times"))

    return answer


def enveloped(request: Message, response: Message) -> EnvelopeResponse:
    assert isinstance(request, EnvelopeRequest)
    head, _ = decode_request(request.request_data)
    parts: list[Any] = encode_response(
        response, head.api_version, correlation_id=head.correlation_id
    )
    return EnvelopeResponse(response_data=b"".join(parts)[4:])


def test_request_to_the_controller_of_this_node_needs_no_network() -> None:
    async def play() -> None:
        service = await World().open_service()
        forwarding = Forwarding(service, network=NoNetwork(), clock=SimulatedClock())
        await serve_broker(service.controller)
        assert forwarding.controller.is_here
        response = await forwarding.controller.forward(topics("a"), 7, rights=UNRESTRICTED)
        assert [topic.error_code for topic in response.topics] == [0]
        sent = await forwarding.controller.send(
            BrokerHeartbeatRequest(broker_id=1, broker_epoch=-1)
        )
        assert sent.error_code == ErrorCode.STALE_BROKER_EPOCH
        await forwarding.close()

    asyncio.run(play())


def test_request_travels_to_another_node_in_an_envelope_and_its_answer_back(
    node: OneNode,
) -> None:
    async def play() -> None:
        make_handler = partial(node.broker.client_connection, "CONTROLLER", is_controller=True)
        listener = await SystemNetwork().listen(ANY_PORT, make_handler)
        forwarding = Forwarding(await bystander(), address=listener.address)
        assert not forwarding.controller.is_here
        response = await forwarding.controller.forward(topics("a", "b/c"), 7, rights=UNRESTRICTED)
        assert [topic.error_code for topic in response.topics] == [
            0,
            ErrorCode.INVALID_TOPIC_EXCEPTION,
        ]
        assert set(node.image.topics.by_name) == {"a"}
        beat = await forwarding.controller.send(
            BrokerHeartbeatRequest(broker_id=1, broker_epoch=-1), lane=ForwardingLane.HEARTBEATS
        )
        assert beat.error_code == ErrorCode.STALE_BROKER_EPOCH
        listener.close()
        for connection in list(node.broker.connections):
            connection.abort()
        await until(lambda: forwarding.lost)
        # That of the heartbeats, not that of what is forwarded.
        assert forwarding.lost == 1
        await forwarding.close()

    node.run(play())


@pytest.mark.parametrize("version", [1, 5])
def test_request_travels_in_the_version_of_its_client(version: int) -> None:
    """Later versions do not have the field `topic_names`."""

    def answer(request: Message) -> Message:
        assert isinstance(request, EnvelopeRequest)
        head, forwarded = decode_request(request.request_data)
        assert isinstance(forwarded, DeleteTopicsRequest)
        assert (head.api_version, forwarded.topic_names) == (version, ["a"])
        return enveloped(request, DeleteTopicsResponse(throttle_time_ms=7))

    async def play() -> None:
        node = ScriptedNode(answer)
        forwarding = Forwarding(await bystander(), address=await node.listen())
        request = DeleteTopicsRequest(topic_names=["a"])
        response = await forwarding.controller.forward(request, version, rights=UNRESTRICTED)
        assert response.throttle_time_ms == 7
        await forwarding.close()
        node.stop()

    asyncio.run(play())


def test_request_that_reaches_the_wrong_controller_is_sent_again() -> None:
    async def play() -> None:
        node = ScriptedNode(refusing(2, ErrorCode.NOT_CONTROLLER))
        forwarding = Forwarding(await bystander(), address=await node.listen())
        response = await forwarding.controller.forward(FEATURES, 2, rights=UNRESTRICTED)
        assert response.error_message == "asked 3 times"
        await forwarding.close()
        node.stop()

    asyncio.run(play())


def test_request_goes_to_the_present_controller() -> None:
    async def play() -> None:
        old = ScriptedNode(refusing(10**9, ErrorCode.NOT_CONTROLLER))
        new = ScriptedNode(refusing(0, ErrorCode.NONE))
        forwarding = Forwarding(await bystander(), address=await old.listen())
        answer = asyncio.ensure_future(
            forwarding.controller.forward(FEATURES, 2, rights=UNRESTRICTED)
        )
        await until(lambda: old.connections and len(old.connections[0].requests) > 1)
        forwarding.address = await new.listen()
        assert (await answer).error_message == "asked 1 times"
        await forwarding.close()
        old.stop()
        new.stop()

    asyncio.run(play())


def test_request_survives_a_controller_that_dies() -> None:
    async def play() -> None:
        dying = ScriptedNode()
        new = ScriptedNode(refusing(0, ErrorCode.NONE))
        forwarding = Forwarding(await bystander(), address=await dying.listen())
        answer = asyncio.ensure_future(
            forwarding.controller.forward(FEATURES, 2, rights=UNRESTRICTED)
        )
        await until(lambda: dying.connections and dying.connections[0].requests)
        forwarding.address = await new.listen()
        dying.stop()
        assert (await answer).error_message == "asked 1 times"
        await forwarding.close()
        new.stop()

    asyncio.run(play())


def creating(request: Message) -> Message:
    return enveloped(request, CreateTopicsResponse(throttle_time_ms=7))


def test_request_in_flight_is_left_to_the_previous_controller() -> None:
    async def play() -> None:
        old, new = ScriptedNode(), ScriptedNode(creating)
        forwarding = Forwarding(await bystander(), address=await old.listen())
        first = asyncio.ensure_future(
            forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED)
        )
        await until(lambda: old.connections and old.connections[0].requests)
        forwarding.address = await new.listen()
        assert (
            await forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED)
        ).throttle_time_ms == 7
        assert not first.done()
        connection = old.connections[0]
        (head, request) = connection.requests[0]
        response = CreateTopicsResponse(throttle_time_ms=9)
        connection.answer(head, enveloped(request, response))
        assert (await first).throttle_time_ms == 9
        # Nothing is sent there any more.
        await until(lambda: not old.connections)
        assert [len(each.requests) for each in new.connections] == [1]
        await forwarding.close()
        old.stop()
        new.stop()

    asyncio.run(play())


def test_request_that_may_have_been_executed_is_not_sent_again() -> None:
    async def play() -> None:
        dying, new = ScriptedNode(), ScriptedNode(creating)
        forwarding = Forwarding(await bystander(), address=await dying.listen())
        answer = asyncio.ensure_future(
            forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED)
        )
        repeated = asyncio.ensure_future(
            forwarding.controller.forward(NO_TOPIC, 7, is_repeatable=True, rights=UNRESTRICTED)
        )
        await until(lambda: sum(len(each.requests) for each in dying.connections) == 2)
        forwarding.address = await new.listen()
        dying.stop()
        with pytest.raises(KafkaError, match="may have executed") as refused:
            await answer
        assert refused.value.code is ErrorCode.REQUEST_TIMED_OUT
        assert (await repeated).throttle_time_ms == 7
        assert [len(each.requests) for each in new.connections] == [1]
        await forwarding.close()
        new.stop()

    asyncio.run(play())


def test_request_that_was_not_sent_waits_for_the_next_controller() -> None:
    async def play() -> None:
        gone, new = ScriptedNode(), ScriptedNode(creating)
        forwarding = Forwarding(await bystander(), address=await gone.listen())
        gone.stop()
        answer = asyncio.ensure_future(
            forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED)
        )
        await forwarding.controller.wait_moved()
        forwarding.address = await new.listen()
        assert (await answer).throttle_time_ms == 7
        await forwarding.close()
        new.stop()

    asyncio.run(play())


@pytest.mark.parametrize("request_", [NO_TOPIC, FEATURES])
def test_request_whose_controller_was_deposed_is_only_sent_again_if_it_can_be(
    request_: CreateTopicsRequest | UpdateFeaturesRequest,
) -> None:
    async def play() -> None:
        node = ScriptedNode(refusing(1, ErrorCode.REQUEST_TIMED_OUT))
        forwarding = Forwarding(await bystander(), address=await node.listen())
        if request_ is FEATURES:
            assert (
                await forwarding.controller.forward(FEATURES, 2, rights=UNRESTRICTED)
            ).error_message == "asked 2 times"
        else:
            with pytest.raises(KafkaError, match="may have executed"):
                await forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED)
        await forwarding.close()
        node.stop()

    asyncio.run(play())


def test_operation_of_a_deposed_controller_here_is_not_done_again() -> None:
    async def play() -> None:
        world = World()
        world.background = background = HeldBackground()
        service = await world.open_service()
        controller = service.controller
        await serve_broker(controller)
        forwarding = Forwarding(service, network=NoNetwork(), clock=SimulatedClock())
        background.hold()
        waiting = asyncio.ensure_future(
            forwarding.controller.forward(topics("a"), 7, rights=UNRESTRICTED)
        )
        await settle()
        controller.deactivate()
        with pytest.raises(KafkaError, match="may have executed") as refused:
            await waiting
        assert refused.value.code is ErrorCode.REQUEST_TIMED_OUT
        await forwarding.close()

    asyncio.run(play())


def test_a_request_that_a_controller_never_answers_goes_to_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play() -> None:
        silent = ScriptedNode()
        service = await bystander()
        forwarding = Forwarding(service, address=await silent.listen())
        own = asyncio.ensure_future(forwarding.controller.send(BrokerHeartbeatRequest()))
        pending = asyncio.ensure_future(
            forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED)
        )
        await until(lambda: len([each for each in silent.connections if each.requests]) == 2)
        quorum = service.controller.quorum
        epoch = quorum.leader_and_epoch.epoch
        for leader in (LeaderAndEpoch(None, epoch + 1), LeaderAndEpoch(3, epoch + 1)):
            assert not own.done()
            monkeypatch.setattr(type(quorum), "leader_and_epoch", leader)
            quorum._notify_leader_changed()
            await settle()
        with pytest.raises(ChannelError):
            await own
        # The topics may have been created.
        assert not pending.done()
        pending.cancel()
        await forwarding.close()
        silent.stop()

    asyncio.run(play())


def test_other_errors_of_the_controller_are_the_answer() -> None:
    async def play() -> None:
        node = ScriptedNode(refusing(1, ErrorCode.KAFKA_STORAGE_ERROR))
        forwarding = Forwarding(await bystander(), address=await node.listen())
        with pytest.raises(KafkaError) as refused:
            await forwarding.controller.forward(FEATURES, 2, rights=UNRESTRICTED)
        assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        await forwarding.close()
        node.stop()

    asyncio.run(play())


def test_heartbeat_does_not_wait_behind_a_request() -> None:
    def answer(request: Message) -> Message | None:
        return BrokerHeartbeatResponse() if isinstance(request, BrokerHeartbeatRequest) else None

    async def play() -> None:
        node = ScriptedNode(answer)
        forwarding = Forwarding(await bystander(), address=await node.listen())
        waiting = asyncio.ensure_future(
            forwarding.controller.forward(FEATURES, 2, rights=UNRESTRICTED)
        )
        await until(lambda: node.connections and node.connections[0].requests)
        beat = await forwarding.controller.send(
            BrokerHeartbeatRequest(), lane=ForwardingLane.HEARTBEATS
        )
        assert beat.error_code == 0
        assert not waiting.done()
        waiting.cancel()
        await forwarding.close()
        node.stop()

    asyncio.run(play())


def test_request_without_a_controller_times_out() -> None:
    async def play() -> None:
        clock = SimulatedClock()
        forwarding = Forwarding(await bystander(), network=NoNetwork(), clock=clock)
        answer = asyncio.ensure_future(
            forwarding.controller.forward(NO_TOPIC, 7, timeout_ms=5_000, rights=UNRESTRICTED)
        )
        while clock.monotonic() < 4.9:
            clock.advance(0.01)
            await settle()
        assert not answer.done()
        for _ in range(30):
            clock.advance(0.01)
            await settle()
        with pytest.raises(KafkaError, match="check that a majority") as refused:
            await answer
        assert refused.value.code is ErrorCode.REQUEST_TIMED_OUT
        with pytest.raises(ChannelError):
            await forwarding.controller.send(BrokerHeartbeatRequest())
        await forwarding.close()

    asyncio.run(play())


def test_request_goes_at_once_to_a_controller_that_becomes_active_here() -> None:
    async def play() -> None:
        world, clock = World(), SimulatedClock()
        world.background = background = HeldBackground()
        background.hold()
        service = world.make_service()
        forwarding = Forwarding(service, network=NoNetwork(), clock=clock)
        service.controller.quorum.start(service)
        answer = asyncio.ensure_future(
            forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED)
        )
        await settle()
        assert forwarding.controller.is_here
        assert not service.controller.is_active
        assert not answer.done()
        # No request waits for time to pass.
        while not answer.done():
            await background.release()
        assert clock.monotonic() == 0.0
        assert not (await answer).topics
        await forwarding.close()

    asyncio.run(play())


def test_leader_that_is_not_active_yet_describes_the_quorum() -> None:
    async def play() -> None:
        world = World()
        world.background = background = HeldBackground()
        background.hold()
        service = world.make_service()
        forwarding = Forwarding(service, network=NoNetwork(), clock=SimulatedClock())
        service.controller.quorum.start(service)
        response = await forwarding.controller.forward(
            DescribeQuorumRequest(), 2, rights=UNRESTRICTED
        )
        assert [node.node_id for node in response.nodes] == [1]
        await forwarding.close()

    asyncio.run(play())


def test_node_whose_metadata_failed_refuses_all_requests_with_the_reason() -> None:
    async def play() -> None:
        world = World()
        service = await world.open_service()
        controller = service.controller
        await serve_broker(controller)
        forwarding = Forwarding(service, network=NoNetwork(), clock=SimulatedClock())
        forwarded = asyncio.ensure_future(
            forwarding.controller.forward(topics("a"), 7, rights=UNRESTRICTED)
        )
        await asyncio.sleep(0)  # noqa: TID251 - lets it be submitted
        controller.quorum.fail(OSError("the disk is gone"))
        for doing in (
            forwarded,
            forwarding.controller.forward(NO_TOPIC, 7, rights=UNRESTRICTED),
            forwarding.controller.send(BrokerHeartbeatRequest()),
        ):
            with pytest.raises(KafkaError, match="restart the node") as refused:
                await doing
            assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
        with pytest.raises(KafkaError):
            await create(controller, "b")
        await forwarding.close()

    asyncio.run(play())
