"""What DeleteRecords has promised to be gone stays gone, whoever leads next."""

from __future__ import annotations

from ottla.model import ErrorCode, TopicPartition
from ottla.simulation import World
from ottla.simulation.clients.cluster_client import ClusterClient
from ottla.simulation.cluster.cluster import SimulatedCluster, start_cluster
from ottla.simulation.world.node import SimulatedNode
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)

ORDERS = TopicPartition("orders", 0)


async def delete(
    world: World,
    cluster: SimulatedCluster,
    leader: SimulatedNode,
    *,
    offset: int,
    timeout_ms: int = 5_000,
) -> DeleteRecordsPartitionResult:
    requested = DeleteRecordsTopic(
        name=ORDERS.topic, partitions=[DeleteRecordsPartition(partition_index=0, offset=offset)]
    )
    client = ClusterClient(world.here, cluster.bootstrap, name="deleter")
    response = await client.send_to_address(
        leader.address,
        DeleteRecordsRequest(topics=[requested], timeout_ms=timeout_ms),
        2,
        timeout_ms=10_000,
    )
    result: DeleteRecordsPartitionResult = response.topics[0].partitions[0]
    return result


async def with_records(world: World) -> tuple[SimulatedCluster, SimulatedNode]:
    cluster = start_cluster(world, nodes=3)
    await cluster.wait_serving()
    await cluster.admin().create_topic("orders")
    producer = cluster.producer()
    for number in range(6):
        await producer.send(ORDERS, b"%d" % number)
    await world.sleep(1)
    return cluster, await cluster.wait_leader("orders", 0)


def test_the_next_leader_has_let_go_of_them_too() -> None:
    async def story(world: World) -> None:
        cluster, leader = await with_records(world)
        result = await delete(world, cluster, leader, offset=4)
        assert (result.error_code, result.low_watermark) == (ErrorCode.NONE, 4)
        leader.kill()
        consumer = cluster.consumer("orders", 0)
        consumer.position = 4
        first = (await consumer.poll())[0]
        assert first.offset == 4
        for node, observer in zip(cluster.nodes, cluster.observers, strict=True):
            if node is not leader:
                assert observer.broker is not None
                partition = observer.broker.partitions.get(ORDERS)
                assert partition is not None
                assert partition.require_log().log_start_offset == 4

    World(seed=5).run(story)


def test_it_is_not_promised_while_a_live_replica_has_them() -> None:
    async def story(world: World) -> None:
        cluster, leader = await with_records(world)
        other = next(node for node in cluster.nodes if node is not leader)
        other.pause()
        result = await delete(world, cluster, leader, offset=4, timeout_ms=1_000)
        assert result.error_code == ErrorCode.REQUEST_TIMED_OUT

    World(seed=5).run(story)
