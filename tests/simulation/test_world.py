"""What a story in a world can rely on: the example of the documentation, and its parts."""

from __future__ import annotations

import pytest

from ottla.model import TopicPartition
from ottla.simulation import World
from ottla.simulation.cluster.cluster import start_cluster
from ottla.simulation.faults.fault_plan import Plan, PlannedFault
from ottla.simulation.history.history import Acknowledged
from ottla.simulation.runs.shrinking import shrink

ORDERS = TopicPartition("orders", 0)


def test_records_survive_the_death_of_their_leader() -> None:
    async def story(world: World) -> list[bytes | None]:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        await cluster.admin().create_topic("orders")
        producer = cluster.producer()
        for number in range(5):
            await producer.send(ORDERS, b"before %d" % number)
        (await cluster.wait_leader("orders", 0)).kill()
        for number in range(5):
            await producer.send(ORDERS, b"after %d" % number)
        consumer = cluster.consumer("orders", 0)
        values: list[bytes | None] = []
        while len(values) < 10:
            values += [record.value for record in await consumer.poll()]
        return values

    values = World(seed=7).run(story)
    assert values == [b"before %d" % n for n in range(5)] + [b"after %d" % n for n in range(5)]


def test_a_cut_off_node_acknowledges_nothing() -> None:
    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        await cluster.admin().create_topic("orders")
        leader = await cluster.wait_leader("orders", 0)
        cluster.partition((leader.id,), tuple({1, 2, 3} - {leader.id}))
        host = world.host("elsewhere")
        host.run("send", cluster.producer("lonely", host=host).send(ORDERS, b"x"))
        await world.sleep(2)
        assert not any(world.history.of(Acknowledged))
        cluster.heal_network()
        await world.wait_until(lambda: any(world.history.of(Acknowledged)), seconds=30)

    World(seed=3).run(story)


def test_a_node_whose_disk_fails_ends_and_starts_again_on_a_sound_one() -> None:
    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        await cluster.admin().create_topic("orders")
        leader = await cluster.wait_leader("orders", 0)
        leader.disk.faults.fail("/")
        await cluster.producer().send(ORDERS, b"one")
        await world.wait_until(lambda: not leader.is_running, seconds=30)
        leader.disk.faults.heal("/")
        leader.start()
        await cluster.wait_serving()

    World(seed=5).run(story)


@pytest.mark.parametrize("number", range(4))
def test_a_node_that_is_stopping_is_not_elected(number: int) -> None:
    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=5)
        await cluster.wait_serving()
        leader = cluster.active_controller
        assert leader is not None
        stopping = [node for node in cluster.nodes if node is not leader][number]
        stopping.stop()
        leader.kill()
        await world.wait_until(lambda: cluster.active_controller is not None, seconds=30)
        assert cluster.active_controller is not stopping

    World(seed=number).run(story)


def test_a_rolling_restart_leaves_every_node_serving() -> None:
    async def story(world: World) -> None:
        cluster = start_cluster(world, nodes=3)
        await cluster.wait_serving()
        await cluster.rolling_restart()
        assert cluster.active_controller is not None

    World(seed=5).run(story)


def test_a_power_loss_forgets_what_was_not_synced() -> None:
    async def story(world: World) -> None:
        host = world.host("host")
        host.disk.make_directories("/d")
        host.disk.sync_directory("/")
        for number in range(20):
            host.disk.open(f"/d/{number}", create=True).write_at(0, [b"x"])
        host.lose_power()
        assert not host.is_running

    World(seed=1).run(story)


def test_a_story_that_waits_in_vain_times_out() -> None:
    async def story(world: World) -> None:
        await world.wait_until(lambda: False, seconds=5)

    with pytest.raises(TimeoutError, match="5 s of virtual time"):
        World(seed=1).run(story)


def test_shrinking_keeps_only_the_faults_that_matter() -> None:
    faults = tuple(PlannedFault(float(at), "kill", 1.0, at) for at in range(20))
    plan = Plan(1, 20.0, False, partitions=1, producers=1, faults=faults)

    def fails(smaller: Plan) -> bool:
        return {3, 14} <= {fault.number for fault in smaller.faults}

    assert [fault.number for fault in shrink(plan, fails).faults] == [3, 14]
