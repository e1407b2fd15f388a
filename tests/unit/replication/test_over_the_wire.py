"""A follower and its leader with everything between them but the node: peer, frames, sessions."""

from __future__ import annotations

import asyncio

from ottla.channels import Peer
from ottla.model import NodeId
from ottla.replication.fetchers import Fetchers
from ottla.replication.follower_context import FollowerContext
from ottla.replication.partition import FetchingFollower
from ottla.runtime.background import InlineBackground
from ottla.runtime.system_network import SystemNetwork
from ottla.runtime.tasks import Tasks
from ottla.simulation import SeededDice
from ottla.simulation.seams.clock import SimulatedClock
from ottla.storage.log.group_commit import GroupCommit
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode, until
from tests.support.replication.replicas import Leader, new_follower
from tests.support.storage.logs import read_all


def served_by(leader: Leader, request: Message) -> FetchResponse | None:
    """The answer to a fetch that names the partition; others wait forever."""
    assert isinstance(request, FetchRequest)
    assert request.replica_state is not None
    if not request.topics:
        return None
    (topic,) = request.topics
    (requested,) = topic.partitions
    sender = FetchingFollower(request.replica_state.replica_id, request.replica_state.replica_epoch)
    leader.partition.record_follower_fetch(sender, requested, now_ms=0)
    read = leader.partition.read_for_follower(
        sender, requested, bytes_max=requested.partition_max_bytes, min_one_batch=True
    )
    data = PartitionData(
        records=read.records.read() if read.records else b"",
        high_watermark=read.high_watermark,
        log_start_offset=read.log_start_offset,
    )
    answered = FetchableTopicResponse(topic_id=topic.topic_id, partitions=[data])
    return FetchResponse(session_id=7, responses=[answered])


def test_a_follower_becomes_its_leaders_copy() -> None:
    async def scenario() -> None:
        leader = Leader(replicas=(1, 2), isr=(1, 2))
        results = leader.append(100)
        node = ScriptedNode(lambda request: served_by(leader, request))
        address = await node.listen()
        clock, errors = SimulatedClock(), list[BaseException]()
        tasks = Tasks(lambda _name, error: errors.append(error))
        context = FollowerContext(
            node_id=NodeId(2),
            broker_epoch=lambda: 20,
            clock=clock,
            commit=GroupCommit(InlineBackground(), tasks),
            storage_failed=lambda _partition, error: errors.append(error),
        )
        fetchers = Fetchers(
            context,
            tasks,
            lambda _leader: Peer(
                SystemNetwork(), clock, SeededDice(0), tasks, lambda: address, client_id="node 2"
            ),
        )
        follower = new_follower(replicas=(1, 2), isr=(1, 2))
        fetchers.follow(follower)
        await until(lambda: errors or len(results) == 100)
        copied = follower.require_log()
        await until(lambda: errors or copied.high_watermark == 100)
        assert not errors
        assert read_all(copied) == read_all(leader.log)
        await tasks.close()
        fetchers.close()
        node.stop()

    asyncio.run(asyncio.wait_for(scenario(), 20))
