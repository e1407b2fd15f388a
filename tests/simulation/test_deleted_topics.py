"""Deleted topics and a disk that runs full, in a simulated cluster."""

from __future__ import annotations

from ottla import TopicPartition
from ottla.model import ErrorCode
from ottla.simulation import World, start_cluster

FIRST, SECOND, WRITTEN = (TopicPartition(name, 0) for name in ("first", "second", "written"))
ROOM_BYTES = 60_000


def test_a_full_disk_purges_the_topic_that_was_deleted_first_and_writes_go_on() -> None:
    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        admin, producer = cluster.admin(), cluster.producer()
        ids = {}
        for partition in (FIRST, SECOND, WRITTEN):
            await admin.create_topic(partition.topic)
            ids[partition] = await admin.topic_id(partition.topic)
            for _ in range(8):
                await producer.send(partition, bytes(10_000))
        for partition in (FIRST, SECOND):
            assert await admin.delete_topic(partition.topic) == ErrorCode.NONE
            await world.sleep(0.1)
        # What was written before and this come to more than there is room for, without one topic.
        for node in cluster.nodes:
            node.disk.limit_space(ROOM_BYTES)
        for _ in range(10):
            await producer.send(WRITTEN, bytes(10_000))
        for node in cluster.nodes:
            assert node.is_serving
            assert node.node is not None
            assert not node.node.broker.logs.failed
            node.disk.limit_space(None)
        # Under another name: the producer may have created a topic of this one again.
        gone = await admin.undelete_topic("restored", ids[FIRST])
        assert gone == ErrorCode.UNKNOWN_TOPIC_ID

    World(seed=1).run(story)
