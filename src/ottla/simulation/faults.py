"""What each kind of fault does to a cluster, and how it ends.

A fault is a coroutine of the world: it begins, waits as long as planned, and takes itself back.
What it finds undone already (a node that something else has killed) it leaves alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from ottla.model import TopicPartition
from ottla.simulation.clients import SimulatedAdmin
from ottla.simulation.cluster import SimulatedCluster
from ottla.simulation.dice import SeededDice
from ottla.simulation.disk_faults import Operation
from ottla.simulation.fault_plan import PlannedFault
from ottla.simulation.history import Fault, Noted
from ottla.simulation.node import SimulatedNode
from ottla.simulation.world import World

_CHANGES_MAX: Final = 40
_STOP_SECONDS_MAX: Final = 30.0


class Trouble:
    """What a fault is given: the world, and dice of its own."""

    def __init__(
        self,
        world: World,
        cluster: SimulatedCluster,
        admin: SimulatedAdmin,
        topic: str,
        partitions: int,
        fault: PlannedFault,
    ) -> None:
        self.world = world
        self.cluster = cluster
        self.admin = admin
        self.topic = topic
        self.seconds = fault.seconds
        self.dice = SeededDice(f"fault {fault.number}")
        self.node = self.dice.choice(cluster.nodes)
        if fault.node_id is not None:
            self.node = cluster.node(fault.node_id)
        self.other = self.dice.choice([node for node in cluster.nodes if node is not self.node])
        self.partition = TopicPartition(topic, self.dice.below(partitions))

    async def wait(self) -> None:
        await self.world.sleep(self.seconds)

    def say(self, who: str, what: str) -> None:
        self.world.record(Fault(who, what))


def start_again(node: SimulatedNode) -> None:
    if not node.is_running:
        node.start()


async def kill(trouble: Trouble) -> None:
    trouble.node.kill()
    await trouble.wait()
    start_again(trouble.node)


async def kill_within(trouble: Trouble) -> None:
    """In the middle of what it does: between two changes on its disk."""
    await _end_within(trouble, power=False)


async def lose_power(trouble: Trouble) -> None:
    trouble.node.lose_power()
    await trouble.wait()
    start_again(trouble.node)


async def lose_power_within(trouble: Trouble) -> None:
    await _end_within(trouble, power=True)


async def kill_all(trouble: Trouble) -> None:
    for node in trouble.cluster.nodes:
        node.kill()
    await trouble.wait()
    for node in trouble.cluster.nodes:
        start_again(node)


async def lose_power_all(trouble: Trouble) -> None:
    for node in trouble.cluster.nodes:
        node.lose_power()
    await trouble.wait()
    for node in trouble.cluster.nodes:
        start_again(node)


async def stop(trouble: Trouble) -> None:
    await _stop(trouble.world, trouble.node)
    await trouble.wait()
    start_again(trouble.node)


async def rolling_restart(trouble: Trouble) -> None:
    for node in trouble.cluster.nodes:
        await _stop(trouble.world, node)
        start_again(node)
        await trouble.wait()


async def pause(trouble: Trouble) -> None:
    trouble.node.pause()
    await trouble.wait()
    trouble.node.resume()


async def part(trouble: Trouble) -> None:
    """Some nodes away from the others; clients still reach all of them."""
    ids = [node.id for node in trouble.cluster.nodes if node is not trouble.node]
    trouble.dice.shuffle(ids)
    away = trouble.dice.between(low=0, high=(len(ids) - 1) // 2)
    trouble.cluster.partition((trouble.node.id, *ids[:away]), tuple(ids[away:]))
    await trouble.wait()
    trouble.cluster.heal_network()


async def isolate(trouble: Trouble) -> None:
    trouble.cluster.isolate(trouble.node.id)
    await trouble.wait()
    trouble.cluster.heal_network()


async def cut_one_way(trouble: Trouble) -> None:
    source, target = trouble.node, trouble.other
    trouble.say("network", f"lets nothing through from {source.name} to {target.name}")
    trouble.cluster.cut(source.id, target.id)
    await trouble.wait()
    trouble.world.fabric.heal(source.name, target.name)
    trouble.say("network", f"lets {source.name} reach {target.name} again")


async def slow_link(trouble: Trouble) -> None:
    source, target = trouble.node, trouble.other
    late_ms = trouble.dice.between(low=5, high=800)
    trouble.say("network", f"is {late_ms} ms late from {source.name} to {target.name}")
    trouble.world.fabric.slow(
        source.name, target.name, seconds=late_ms / 1_000, bytes_per_second=1e5
    )
    await trouble.wait()
    trouble.world.fabric.heal(source.name, target.name)
    trouble.say("network", f"is fast again from {source.name} to {target.name}")


async def reset_connections(trouble: Trouble) -> None:
    if not trouble.node.is_running:
        return
    connections = list(trouble.node.network.connections)
    chosen = [each for each in connections if trouble.dice.chance(0.5)]
    trouble.say(trouble.node.name, f"loses {len(chosen)} connections")
    for connection in chosen:
        error = ConnectionResetError("the network lost the connection")
        connection.reset(error)
        connection.other.reset(error)


async def slow_disk(trouble: Trouble) -> None:
    late_ms = trouble.dice.between(low=1, high=60)
    trouble.say(trouble.node.name, f"has a disk that takes {late_ms} ms for everything")
    trouble.node.disk.faults.slow("/", late_ms / 1_000)
    await trouble.wait()
    trouble.node.disk.faults.heal("/")
    trouble.say(trouble.node.name, "has a fast disk again")


async def full_disk(trouble: Trouble) -> None:
    room = trouble.dice.below(4_000)
    trouble.say(trouble.node.name, f"has {room} bytes left on its disk")
    trouble.node.disk.limit_space(room)
    await trouble.wait()
    trouble.node.disk.limit_space(None)
    # A directory that failed stays offline until somebody looks after it.
    trouble.node.kill()
    start_again(trouble.node)


async def failing_disk(trouble: Trouble) -> None:
    """Nothing can be written or synced any more, and what was to be synced is lost."""
    operations = trouble.dice.choice(((Operation.SYNC,), (Operation.WRITE, Operation.SYNC), ()))
    said = "nothing" if not operations else "no " + " and no ".join(o.name for o in operations)
    trouble.say(trouble.node.name, f"has a disk that takes {said.lower()} any more")
    trouble.node.disk.faults.fail("/", *operations)
    await trouble.wait()
    # The page cache still shows what a failed sync lost, and a sync after that says nothing. A
    # process that only starts again believes it, as Kafka does; a host that does reads the device.
    trouble.node.lose_power()
    trouble.node.disk.faults.heal("/")
    start_again(trouble.node)


async def jump_clock(trouble: Trouble) -> None:
    jump_ms = trouble.dice.between(low=-600_000, high=600_000)
    trouble.say(trouble.node.name, f"has its clock set by {jump_ms} ms")
    trouble.node.clock.jump(jump_ms)


async def elect(trouble: Trouble) -> None:
    error = await trouble.admin.elect_preferred(trouble.partition)
    trouble.world.record(Noted("admin", f"preferred leader of {trouble.partition}: error {error}"))


async def reassign(trouble: Trouble) -> None:
    replicas = [node.id for node in trouble.cluster.nodes]
    trouble.dice.shuffle(replicas)
    del replicas[3:]
    error = await trouble.admin.reassign(trouble.partition, replicas)
    trouble.world.record(
        Noted("admin", f"replicas of {trouble.partition} to {replicas}: error {error}")
    )


async def alter_config(trouble: Trouble) -> None:
    changes = trouble.dice.choice(
        (
            {"segment.bytes": str(trouble.dice.between(low=1 << 14, high=1 << 17))},
            {"index.interval.bytes": str(trouble.dice.between(low=1, high=4096))},
            {"segment.ms": str(trouble.dice.between(low=1_000, high=10_000))},
        )
    )
    error = await trouble.admin.alter_topic(trouble.topic, changes)
    trouble.world.record(Noted("admin", f"{changes} of {trouble.topic}: error {error}"))


async def topic_churn(trouble: Trouble) -> None:
    name = f"passing-{trouble.dice.below(3)}"
    await trouble.admin.create_topic(name, partitions=2)
    await trouble.wait()
    error = await trouble.admin.delete_topic(name)
    trouble.world.record(Noted("admin", f"deletes {name}: error {error}"))


async def _end_within(trouble: Trouble, *, power: bool) -> None:
    node, changes = trouble.node, trouble.dice.below(_CHANGES_MAX)
    if not node.is_running:
        return
    kind = "lose power" if power else "be killed"
    trouble.say(node.name, f"is to {kind} within {changes} changes on its disk")
    node.end_within(changes, power=power)
    await trouble.wait()
    node.disk.faults.power_on()
    start_again(node)


async def _stop(world: World, node: SimulatedNode) -> None:
    node.stop()
    try:
        await world.wait_until(lambda: not node.is_running, seconds=_STOP_SECONDS_MAX)
    except TimeoutError:
        node.kill()


FaultKind: TypeAlias = Callable[[Trouble], Awaitable[None]]
FAULTS: Final[dict[str, FaultKind]] = {
    each.__name__: each
    for each in (
        kill,
        kill_within,
        kill_all,
        lose_power,
        lose_power_within,
        lose_power_all,
        stop,
        rolling_restart,
        pause,
        part,
        isolate,
        cut_one_way,
        slow_link,
        reset_connections,
        slow_disk,
        full_disk,
        failing_disk,
        jump_clock,
        elect,
        reassign,
        alter_config,
        topic_churn,
    )
}
