"""What a client knows of its cluster, and what it does when that is wrong."""

from __future__ import annotations

import asyncio

import pytest

from ottla import KafkaError
from ottla.channels import ChannelError
from ottla.client import TimedOutError, TopicPartition, UnknownMemberIdError
from ottla.client.cluster import ClusterMetadata, ClusterNode, CoordinatorKind, PartitionLeader
from ottla.client.cluster.metadata import merged
from ottla.model import ErrorCode
from ottla.runtime.network import Address
from ottla.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.schema import Message
from tests.unit.client.cluster.scripted_brokers import (
    ScriptedBroker,
    cluster_at,
    metadata,
    run,
    topic,
)

PARTITION = TopicPartition("t", 0)
NODES = {1: Address("a", 1), 2: Address("b", 2)}


def known(leader: tuple[int, int], topic_id: bytes = b"1" * 16) -> ClusterMetadata:
    response = metadata(NODES, topic("t", leader, topic_id=topic_id))
    return merged(ClusterMetadata(), response, frozenset({"t"}))


@pytest.mark.parametrize(
    ("said", "expected"), [((2, 4), (1, 5)), ((2, 5), (2, 5)), ((2, 6), (2, 6))]
)
def test_a_leader_of_an_older_epoch_never_replaces_a_newer_one(
    said: tuple[int, int], expected: tuple[int, int]
) -> None:
    found = merged(known((1, 5)), metadata(NODES, topic("t", said)), frozenset({"t"}))
    assert found.leader(PARTITION) == PartitionLeader(*expected)


def test_a_topic_that_was_created_again_begins_anew() -> None:
    response = metadata(NODES, topic("t", (2, 0), topic_id=b"2" * 16))
    found = merged(known((1, 5)), response, frozenset({"t"}))
    assert found.leader(PARTITION) == PartitionLeader(2, 0)
    assert found.topic_names == {b"2" * 16: "t"}


def test_a_response_names_a_newer_leader_and_its_address() -> None:
    hint = ClusterNode(3, "c", 3)
    found = known((1, 5)).with_leader(PARTITION, PartitionLeader(3, 6), [hint])
    assert found.leader(PARTITION) == PartitionLeader(3, 6)
    assert found.nodes[3] == hint
    assert found.with_leader(PARTITION, PartitionLeader(1, 5), []) is found


def test_topics_with_errors_and_deleted_ones_are_not_there() -> None:
    gone = topic("t")
    gone.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    found = merged(known((1, 5)), metadata(NODES, gone), frozenset({"t"}))
    assert found.topics == {}
    assert found.errors == {"t": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert merged(known((1, 5)), metadata(NODES), None).topics == {}


def test_requests_for_metadata_share_a_round_with_those_that_wait() -> None:
    async def scenario() -> None:
        broker = ScriptedBroker()
        address = await broker.listen()
        broker.metadata = lambda: metadata({1: address})
        cluster = cluster_at(address)
        cluster.watch_topics(["watched"])
        await asyncio.gather(*(cluster.refresh([name]) for name in "abc"))
        asked = [[each.name for each in request.topics or ()] for request in requests_of(broker)]
        assert asked == [["a", "b", "c", "watched"]]
        await cluster.close()
        broker.stop()

    run(scenario())


def requests_of(broker: ScriptedBroker) -> list[MetadataRequest]:
    return [each for each in broker.requests if isinstance(each, MetadataRequest)]


def beats(request: Message) -> Message | None:
    return HeartbeatResponse() if isinstance(request, HeartbeatRequest) else None


def test_a_broker_that_came_back_at_another_address_is_found_again() -> None:
    async def scenario() -> None:
        old, new, other = ScriptedBroker(beats), ScriptedBroker(beats), ScriptedBroker(beats)
        for each in (old, new, other):
            await each.listen()
        other.metadata = lambda: metadata({1: old.address, 2: other.address})
        cluster = cluster_at(other.address)
        await cluster.refresh()
        await cluster.send(1, HeartbeatRequest())
        old.stop()
        other.metadata = lambda: metadata({1: new.address, 2: other.address})

        async def attempt() -> None:
            await cluster.send(1, HeartbeatRequest())

        await cluster.retrying("beating", attempt, deadline=cluster.clock.monotonic() + 10)
        assert len(new.requests) == 1
        await cluster.close()
        for each in (new, other):
            each.stop()

    run(scenario())


@pytest.mark.parametrize("is_told", [True, False])
def test_a_client_begins_again_with_its_bootstrap_servers(is_told: bool) -> None:
    """When no known node answers, or when one says so (KIP-899, KIP-1102)."""

    async def scenario() -> None:
        bootstrap, first, second = ScriptedBroker(), ScriptedBroker(), ScriptedBroker()
        for each in (bootstrap, first, second):
            await each.listen()
        bootstrap.metadata = lambda: metadata({1: first.address})
        cluster = cluster_at(bootstrap.address)
        await cluster.refresh()
        bootstrap.metadata = lambda: metadata({2: second.address})
        if is_told:
            first.metadata = lambda: metadata({}, error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
        else:
            first.stop()
        await cluster.refresh()
        assert list(cluster.metadata.nodes) == [2]
        await cluster.close()
        for each in (bootstrap, second, *([first] if is_told else [])):
            each.stop()

    run(scenario())


def test_a_coordinator_that_has_moved_is_looked_up_again() -> None:
    async def scenario() -> None:
        brokers = {node_id: ScriptedBroker() for node_id in (1, 2)}
        addresses = {node_id: await broker.listen() for node_id, broker in brokers.items()}
        coordinator = [1]

        def answer(node_id: int, request: Message) -> Message:
            if isinstance(request, FindCoordinatorRequest):
                host, port = addresses[coordinator[0]]
                found = Coordinator(key="g", node_id=coordinator[0], host=host, port=port)
                return FindCoordinatorResponse(coordinators=[found])
            is_here = node_id == coordinator[0]
            code = ErrorCode.NONE if is_here else ErrorCode.NOT_COORDINATOR
            return HeartbeatResponse(error_code=code)

        for node_id, broker in brokers.items():
            broker.metadata = lambda: metadata(addresses)
            broker.answer = lambda request, node_id=node_id: answer(node_id, request)  # type: ignore[misc]
        cluster = cluster_at(addresses[1])

        async def beat() -> None:
            response = await cluster.send_to_coordinator(
                CoordinatorKind.GROUP, "g", HeartbeatRequest()
            )
            if response.error_code:
                raise KafkaError(ErrorCode(response.error_code), "no")

        for node_id in (1, 2):
            coordinator[0] = node_id
            await cluster.retrying("beating", beat, deadline=cluster.clock.monotonic() + 10)
            found = await cluster.coordinator(CoordinatorKind.GROUP, "g")
            assert found == node_id
        await cluster.close()
        for broker in brokers.values():
            broker.stop()

    run(scenario())


def test_retries_end_with_a_named_error_or_at_the_deadline() -> None:
    async def scenario() -> None:
        cluster = cluster_at(Address("127.0.0.1", 9))
        attempts = []

        async def refused() -> None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, "left")

        async def unreachable() -> None:
            attempts.append(1)
            raise ChannelError("no route")

        async def endless() -> None:
            await asyncio.Event().wait()

        deadline = cluster.clock.monotonic() + 0.2
        with pytest.raises(UnknownMemberIdError, match="left"):
            await cluster.retrying("joining", refused, deadline=deadline)
        with pytest.raises(TimedOutError, match=r"joining: no success within .*: no route"):
            await cluster.retrying("joining", unreachable, deadline=deadline)
        assert len(attempts) > 1
        with pytest.raises(TimedOutError, match="joining: no success within"):
            await cluster.retrying("joining", endless, deadline=deadline)
        await cluster.close()

    run(scenario())


def test_idle_connections_are_closed_and_nobody_notices() -> None:
    async def scenario() -> None:
        broker = ScriptedBroker(beats)
        address = await broker.listen()
        broker.metadata = lambda: metadata({1: address})
        cluster = cluster_at(address, connections_max_idle_ms=40)
        await cluster.refresh()
        await cluster.send(1, HeartbeatRequest())
        # The bootstrap connection became that of the node.
        assert len(broker.node.connections) == 1
        while broker.node.connections:
            await cluster.clock.sleep(0.005)
        await cluster.send(1, HeartbeatRequest())
        await cluster.close()
        broker.stop()

    run(scenario())
