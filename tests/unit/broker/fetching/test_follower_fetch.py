"""A follower's fetch, with and without a session."""

from __future__ import annotations

import asyncio

import pytest

from ottla.model import ErrorCode
from ottla.replication.partition import Partition
from ottla.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ReplicaState,
)
from tests.support.nodes.one_node import NODE_ID, OneNode
from tests.support.nodes.registered_follower import FOLLOWER, led_partition
from tests.support.storage.batches import batch_of
from tests.support.storage.held_background import settle

VERSION = 18


@pytest.fixture
def partition(node: OneNode) -> Partition:
    return led_partition(node)


def request(
    partition: Partition,
    *,
    offset: int,
    index: int = 0,
    node_id: int = FOLLOWER,
    broker_epoch: int = -1,
    session_epoch: int = -1,
) -> FetchRequest:
    requested = FetchPartition(
        partition=index,
        current_leader_epoch=partition.leader_epoch,
        fetch_offset=offset,
        partition_max_bytes=5_000,
    )
    return FetchRequest(
        replica_state=ReplicaState(replica_id=node_id, replica_epoch=broker_epoch),
        max_wait_ms=500,
        min_bytes=1,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic_id=partition.topic_id, partitions=[requested])],
    )


def answer_while(
    node: OneNode, requested: FetchRequest, *, appends: bool = False
) -> FetchResponse | None:
    """The answer that comes before time goes on, if one does."""

    async def waiting() -> FetchResponse | None:
        answer = asyncio.ensure_future(node.answer(requested, VERSION))
        await settle()
        if appends:
            node.append("orders", batch_of(b"v"))
        node.clock.advance(0)
        await settle()
        if not answer.done():
            answer.cancel()
            return None
        response: FetchResponse = answer.result()
        return response

    return node.run(waiting())


def test_a_follower_without_a_session_waits_for_records(
    node: OneNode, partition: Partition
) -> None:
    end = partition.require_log().log_end_offset

    assert answer_while(node, request(partition, offset=end)) is None

    answer = answer_while(node, request(partition, offset=end), appends=True)
    assert answer is not None
    assert answer.session_id == 0
    assert answer.responses[0].partitions[0].records


def test_a_follower_without_a_session_is_answered_at_the_end_of_its_wait(
    node: OneNode, partition: Partition
) -> None:
    async def waiting() -> FetchResponse:
        requested = request(partition, offset=partition.require_log().log_end_offset)
        answer = asyncio.ensure_future(node.answer(requested, VERSION))
        await settle()
        node.clock.advance(0.5)
        response: FetchResponse = await answer
        return response

    (data,) = node.run(waiting()).responses[0].partitions

    assert (data.error_code, data.records) == (ErrorCode.NONE, b"")


def test_errors_of_partitions_are_answered_at_once(node: OneNode, partition: Partition) -> None:
    end = partition.require_log().log_end_offset

    answer = answer_while(node, request(partition, offset=end, index=7))

    assert answer is not None
    assert answer.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize(
    ("node_id", "epoch_change", "is_privileged"),
    [
        (FOLLOWER, 0, True),
        (FOLLOWER, None, True),
        (FOLLOWER, 1, False),
        (NODE_ID, 0, False),
        (77, None, False),
    ],
)
def test_only_registered_brokers_have_privileged_sessions(
    node: OneNode,
    partition: Partition,
    node_id: int,
    epoch_change: int | None,
    *,
    is_privileged: bool,
) -> None:
    registered = node.image.brokers.get(node_id)
    epoch = -1 if registered is None or epoch_change is None else registered.epoch + epoch_change
    requested = request(partition, offset=0, node_id=node_id, broker_epoch=epoch, session_epoch=0)
    node.run(node.answer(requested, VERSION))

    sessions = node.broker.fetch_sessions
    (session,) = sessions._sessions.values()
    assert session.follower == (node_id if is_privileged else None)
