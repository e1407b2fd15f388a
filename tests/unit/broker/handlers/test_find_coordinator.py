from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ottla.broker.handlers.find_coordinator import CoordinatorType
from ottla.model import ErrorCode
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from tests.support.nodes.one_node import HOST, NODE_ID, PORT, OneNode, StartNode
from tests.support.storage.held_background import settle

TOPIC = "__consumer_offsets"


@pytest.mark.parametrize("version", range(4))
def test_a_group_is_coordinated_by_the_leader_of_its_partition(node: OneNode, version: int) -> None:
    response = node.send_request(FindCoordinatorRequest(key="group"), version)

    assert response.error_code == ErrorCode.NONE
    assert (response.node_id, response.host, response.port) == (NODE_ID, HOST, PORT)


@pytest.mark.parametrize("version", [4, 5, 6])
def test_many_groups_are_looked_for_at_once(node: OneNode, version: int) -> None:
    response = node.send_request(FindCoordinatorRequest(coordinator_keys=["one", "two"]), version)

    assert [each.key for each in response.coordinators] == ["one", "two"]
    assert {(each.error_code, each.node_id) for each in response.coordinators} == {(0, NODE_ID)}


def test_the_topic_is_created_for_the_first_request(start_node: StartNode) -> None:
    node = start_node(configs={"offsets.topic.num.partitions": "7"})
    node.send_request(FindCoordinatorRequest(coordinator_keys=["group"]), 6)
    node.send_request(FindCoordinatorRequest(coordinator_keys=["group"]), 6)

    topic = node.image.topics.by_name[TOPIC]
    assert len(topic.partitions) == 7
    assert topic.partitions[0].replicas == (NODE_ID,)
    assert node.image.topic_configs(TOPIC) == {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "segment.bytes": "104857600",
    }


def test_a_requested_replication_factor_is_not_lowered(start_node: StartNode) -> None:
    node = start_node(configs={"offsets.topic.replication.factor": "3"})
    (found,) = node.send_request(FindCoordinatorRequest(coordinator_keys=["group"]), 6).coordinators

    assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert found.node_id == -1
    assert TOPIC in found.error_message


@pytest.mark.parametrize("version", [4, 5, 6])
def test_transactional_ids_have_a_topic_of_their_own(node: OneNode, version: int) -> None:
    request = FindCoordinatorRequest(
        key_type=CoordinatorType.TRANSACTION, coordinator_keys=["one", "two"]
    )

    one, two = node.send_request(request, version).coordinators

    assert (one.key, two.key) == ("one", "two")
    assert {(each.error_code, each.node_id) for each in (one, two)} == {(0, NODE_ID)}
    assert len(node.image.topics.by_name["__transaction_state"].partitions) == 50
    assert TOPIC not in node.image.topics.by_name
    assert node.image.topic_configs("__transaction_state") == {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "min.insync.replicas": "1",
        "segment.bytes": "104857600",
        "unclean.leader.election.enable": "false",
    }


def test_types_of_keys_that_a_version_does_not_have_are_refused(node: OneNode) -> None:
    def error(key_type: int, version: int) -> int:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["key"])
        code: int = node.send_request(request, version).coordinators[0].error_code
        return code

    assert error(CoordinatorType.SHARE, 5) == ErrorCode.INVALID_REQUEST
    # Not the key of a share partition.
    assert error(CoordinatorType.SHARE, 6) == ErrorCode.INVALID_REQUEST
    assert error(3, 6) == ErrorCode.INVALID_REQUEST


def find_while(node: OneNode, *steps: Callable[[], None]) -> FindCoordinatorResponse | None:
    """The answer that comes after the steps, if one does, while the leader seems to be dead."""
    node.send_request(FindCoordinatorRequest(key="group"), 3)

    async def find() -> FindCoordinatorResponse | None:
        node.broker.suspects.add(NODE_ID)
        answer = asyncio.ensure_future(node.answer(FindCoordinatorRequest(key="group"), 3))
        await settle()
        assert not answer.done()
        for step in steps:
            step()
            await settle()
        if not answer.done():
            answer.cancel()
            return None
        response: FindCoordinatorResponse = answer.result()
        return response

    return node.run(find())


def test_an_answer_waits_for_the_next_leader(node: OneNode) -> None:
    found = find_while(node, lambda: node.broker.suspects.clear(NODE_ID))

    assert found is not None
    assert (found.error_code, found.node_id) == (ErrorCode.NONE, NODE_ID)


def test_a_change_that_brings_no_leader_is_no_answer(node: OneNode) -> None:
    assert find_while(node, node.broker.leader_changes.notify) is None


def test_an_answer_waits_no_longer_than_an_election_takes(node: OneNode) -> None:
    def suspect_again() -> None:
        node.broker.suspects.add(NODE_ID)

    clock = node.clock
    found = find_while(node, lambda: clock.advance(0.9), suspect_again, lambda: clock.advance(0.2))

    assert found is not None
    assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
