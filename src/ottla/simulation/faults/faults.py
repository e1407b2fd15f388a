"""The kinds of faults: what each does to a cluster, and how it ends.

A fault is a coroutine that injects the fault, waits for the planned time and reverts it. It skips
steps that do not apply, for example on a node that another fault has killed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from ottla.simulation.disk.disk_faults import Operation
from ottla.simulation.faults.membership_faults import change_feature, change_nodes, change_voters
from ottla.simulation.faults.rot_faults import corrupt_reads, rot
from ottla.simulation.faults.security_faults import (
    ask_deposed,
    change_acls,
    change_credential,
    change_token,
)
from ottla.simulation.faults.targeted_faults import (
    answer_late,
    contest_election,
    end_ahead,
    flip_leaders,
    leave_behind,
)
from ottla.simulation.faults.trouble import Trouble, start_again, stop_node

_CHANGES_MAX: Final = 40


async def kill(trouble: Trouble) -> None:
    """Kills a node, as with SIGKILL, and starts it again after SECONDS."""
    trouble.node.kill()
    await trouble.wait()
    start_again(trouble.node)


async def kill_within(trouble: Trouble) -> None:
    """Kills a node in the middle of its work, between two changes on its disk."""
    await _end_within(trouble, power=False)


async def lose_power(trouble: Trouble) -> None:
    """Cuts the power of a node: unsynced writes may be lost. Starts it again after SECONDS."""
    trouble.node.lose_power()
    await trouble.wait()
    start_again(trouble.node)


async def lose_power_within(trouble: Trouble) -> None:
    """Cuts the power of a node in the middle of its work, between two changes on its disk."""
    await _end_within(trouble, power=True)


async def kill_all(trouble: Trouble) -> None:
    """Kills all nodes, as with SIGKILL, and starts them again after SECONDS."""
    for node in trouble.cluster.nodes:
        node.kill()
    await trouble.wait()
    for node in trouble.cluster.nodes:
        start_again(node)


async def lose_power_all(trouble: Trouble) -> None:
    """Cuts the power of all nodes: unsynced writes may be lost."""
    for node in trouble.cluster.nodes:
        node.lose_power()
    await trouble.wait()
    for node in trouble.cluster.nodes:
        start_again(node)


async def stop(trouble: Trouble) -> None:
    """Stops a node, as with SIGTERM, and starts it again after SECONDS."""
    await stop_node(trouble.world, trouble.node)
    await trouble.wait()
    start_again(trouble.node)


async def rolling_restart(trouble: Trouble) -> None:
    """Restarts the nodes one after the other, SECONDS apart."""
    for node in trouble.cluster.nodes:
        await stop_node(trouble.world, node)
        start_again(node)
        await trouble.wait()


async def pause(trouble: Trouble) -> None:
    """Pauses a node for SECONDS, as with SIGSTOP."""
    trouble.node.pause()
    await trouble.wait()
    trouble.node.resume()


async def pause_member(trouble: Trouble) -> None:
    """Pauses a group member for SECONDS, possibly beyond its session timeout."""
    members = [host for host in trouble.world.hosts if host.name.startswith("member-")]
    if members:
        member = trouble.dice.choice(members)
        trouble.say(member.name, "is paused")
        member.pause()
        await trouble.wait()
        member.resume()
        trouble.say(member.name, "resumes")


async def part(trouble: Trouble) -> None:
    """Separates the nodes into two groups for SECONDS; clients still reach all of them."""
    ids = [node.id for node in trouble.cluster.nodes if node is not trouble.node]
    trouble.dice.shuffle(ids)
    away = trouble.dice.between(low=0, high=(len(ids) - 1) // 2)
    trouble.cluster.partition((trouble.node.id, *ids[:away]), tuple(ids[away:]))
    await trouble.wait()
    trouble.cluster.heal_network()


async def isolate(trouble: Trouble) -> None:
    """Disconnects a node from all other nodes for SECONDS."""
    trouble.cluster.isolate(trouble.node.id)
    await trouble.wait()
    trouble.cluster.heal_network()


async def cut_one_way(trouble: Trouble) -> None:
    """Drops everything that one node sends to another for SECONDS."""
    source, target = trouble.node, trouble.other
    trouble.say("network", f"drops all traffic from {source.name} to {target.name}")
    trouble.cluster.cut(source.id, target.id)
    await trouble.wait()
    trouble.world.fabric.heal(source.name, target.name)
    trouble.say("network", f"delivers traffic from {source.name} to {target.name} again")


async def slow_link(trouble: Trouble) -> None:
    """Delays everything that one node sends to another, by 5 to 800 ms."""
    source, target = trouble.node, trouble.other
    late_ms = trouble.dice.between(low=5, high=800)
    trouble.say("network", f"delays traffic by {late_ms} ms from {source.name} to {target.name}")
    trouble.world.fabric.slow(
        source.name, target.name, seconds=late_ms / 1_000, bytes_per_second=1e5
    )
    await trouble.wait()
    trouble.world.fabric.heal(source.name, target.name)
    trouble.say("network", f"no longer delays traffic from {source.name} to {target.name}")


async def reset_connections(trouble: Trouble) -> None:
    """Resets about half of the connections of a node."""
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
    """Delays every operation on the disk of a node, by 1 to 60 ms."""
    late_ms = trouble.dice.between(low=1, high=60)
    trouble.say(trouble.node.name, f"has a disk that takes {late_ms} ms for each operation")
    trouble.node.disk.faults.slow("/", late_ms / 1_000)
    await trouble.wait()
    trouble.node.disk.faults.heal("/")
    trouble.say(trouble.node.name, "has a fast disk again")


async def full_disk(trouble: Trouble) -> None:
    """Fills the disk of a node up to the last few kilobytes, and restarts it after SECONDS."""
    room = trouble.dice.below(4_000)
    trouble.say(trouble.node.name, f"has {room} bytes left on its disk")
    trouble.node.disk.limit_space(room)
    await trouble.wait()
    trouble.node.disk.limit_space(None)
    # A failed log directory stays offline until an operator restarts the node.
    trouble.node.kill()
    start_again(trouble.node)


async def failing_disk(trouble: Trouble) -> None:
    """Fails the syncs, the writes and syncs, or all operations of a disk, and restarts its node.

    Data that a failed sync has dropped is still in the page cache, where a process restarted on the
    same host finds it.
    """
    operations = trouble.dice.choice(((Operation.SYNC,), (Operation.WRITE, Operation.SYNC), ()))
    said = "nothing" if not operations else "no " + " and no ".join(o.name for o in operations)
    trouble.say(trouble.node.name, f"has a disk that performs {said.lower()} any more")
    trouble.node.disk.faults.fail("/", *operations)
    await trouble.wait()
    trouble.node.kill()
    trouble.node.disk.faults.heal("/")
    start_again(trouble.node)


async def jump_clock(trouble: Trouble) -> None:
    """Moves the clock of a node by up to ten minutes, forward or backward."""
    jump_ms = trouble.dice.between(low=-600_000, high=600_000)
    trouble.say(trouble.node.name, f"has its clock moved by {jump_ms} ms")
    trouble.node.clock.jump(jump_ms)


async def elect(trouble: Trouble) -> None:
    """Elects the preferred leader of a partition."""
    error = await trouble.admin.elect_preferred(trouble.partition)
    trouble.note(f"preferred leader of {trouble.partition}: error {error}")


async def reassign(trouble: Trouble) -> None:
    """Moves a partition to other replicas."""
    replicas = [node.id for node in trouble.cluster.nodes]
    trouble.dice.shuffle(replicas)
    del replicas[3:]
    error = await trouble.admin.reassign(trouble.partition, replicas)
    trouble.note(f"replicas of {trouble.partition} to {replicas}: error {error}")


async def alter_config(trouble: Trouble) -> None:
    """Changes segment.bytes, segment.ms or index.interval.bytes of the topic."""
    changes = trouble.dice.choice(
        (
            {"segment.bytes": str(trouble.dice.between(low=1 << 14, high=1 << 17))},
            {"index.interval.bytes": str(trouble.dice.between(low=1, high=4096))},
            {"segment.ms": str(trouble.dice.between(low=1_000, high=10_000))},
        )
    )
    error = await trouble.admin.alter_topic(trouble.topic, changes)
    trouble.note(f"{changes} of {trouble.topic}: error {error}")


async def topic_churn(trouble: Trouble) -> None:
    """Creates a topic, and deletes it after SECONDS."""
    name = f"passing-{trouble.dice.below(3)}"
    await trouble.admin.create_topic(name, partitions=2)
    await trouble.wait()
    error = await trouble.admin.delete_topic(name)
    trouble.note(f"deletes {name}: error {error}")


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
        pause_member,
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
        contest_election,
        flip_leaders,
        leave_behind,
        end_ahead,
        answer_late,
        change_voters,
        change_nodes,
        change_feature,
        rot,
        corrupt_reads,
    )
}
# They need a secured cluster.
SECURITY_FAULTS: Final[dict[str, FaultKind]] = {
    each.__name__: each for each in (change_acls, change_credential, change_token, ask_deposed)
}
