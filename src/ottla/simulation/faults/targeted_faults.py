"""Faults that aim at situations which random faults hardly ever reach.

In each of them a cluster would lose data if one of its rules were missing. The mutation tests
remove these rules one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ottla.broker.broker import Broker
from ottla.broker.control.broker_peers import PeerLane
from ottla.coordinator.runtime.shard import Shard, ShardState
from ottla.model import KafkaError
from ottla.simulation.faults.trouble import MOMENT_SECONDS, Trouble, start_again

_LEADER_MISSED_SECONDS: Final = 3.0
_CONTEST_SECONDS: Final = 0.5
_LAG_SECONDS_MAX: Final = 4.0
_STALLING_SECONDS: Final = 0.005
_AHEAD_SECONDS_MAX: Final = 2.0
# About as long as a few messages between two hosts take.
_HEARSAY_MICROSECONDS: Final = 3_000


async def contest_election(trouble: Trouble) -> None:
    """Makes two nodes candidates in the metadata quorum at the same time.

    The two are disconnected from each other. The other nodes, whose votes decide, are killed as
    soon as they have voted, and restarted at once.
    """
    nodes = [
        each for each in trouble.cluster.nodes if each is not trouble.cluster.active_controller
    ]
    if not all(node.is_running and not node.is_paused for node in nodes):
        return
    trouble.dice.shuffle(nodes)
    one, two = nodes[:2]
    trouble.cluster.partition((one.id,), (two.id,))
    others = [node for node in trouble.cluster.nodes if node not in (one, two)]
    for node in (one, two):
        node.pause()
    await trouble.world.sleep(_LEADER_MISSED_SECONDS)
    for node in others:
        node.kill()
        node.start()
    await trouble.world.sleep(0.1)
    # The fetch timeout of both has expired.
    for node in (one, two):
        node.resume()
    votes = {node: trouble.cluster.observer(node).vote for node in others}
    end = trouble.world.now + _CONTEST_SECONDS
    while trouble.world.now < end:
        await trouble.world.sleep(MOMENT_SECONDS)
        for node in others:
            vote = trouble.cluster.observer(node).vote
            if vote != votes[node] and node.is_running:
                votes[node] = vote
                node.kill()
                node.start()
    trouble.cluster.heal_network()


async def flip_leaders(trouble: Trouble) -> None:
    """Moves a partition's leadership away and back, faster than messages arrive.

    Messages to the leader in its first epoch then arrive in its second one. In between, a node with
    fewer records led.
    """
    leader, controller = (
        trouble.cluster.leader_of(*trouble.partition),
        trouble.cluster.active_controller,
    )
    if leader is None or controller is None or leader is controller:
        return
    others = [node for node in trouble.cluster.nodes if node is not leader]
    trouble.dice.shuffle(others)
    behind, slow = others[:2]
    late_ms = trouble.dice.between(low=20, high=800)
    trouble.say(
        "network",
        f"delays traffic by {late_ms} ms from {slow.name} to {leader.name}, and drops it from "
        f"{leader.name} to {behind.name}",
    )
    fabric = trouble.world.fabric
    fabric.slow(slow.name, leader.name, seconds=late_ms / 1_000, bytes_per_second=1e6)
    trouble.cluster.cut(leader.id, behind.id)
    admin = trouble.cluster.admin(name="flipping", only=controller)
    for first, second in ((behind.id, leader.id), (leader.id, behind.id)):
        await trouble.world.sleep(trouble.dice.below(late_ms) / 1_000)
        await admin.reassign(trouble.partition, [first, second, slow.id])
        await admin.elect_preferred(trouble.partition)
    await trouble.world.sleep(late_ms / 1_000)
    fabric.heal(slow.name, leader.name)
    fabric.heal(leader.name, behind.name)
    trouble.say(
        "network", f"no longer delays traffic from {slow.name} to {leader.name}, and is healed"
    )


async def leave_behind(trouble: Trouble) -> None:
    """Kills a leader just after it has committed records without one of its followers.

    The follower had lost the leader and was removed from the ISR. The next leader, which does not
    have that commit's high watermark yet, gets the follower's fetch at once, and its response
    arrives late.
    """
    leader, node, fabric = (
        trouble.cluster.leader_of(*trouble.partition),
        trouble.node,
        trouble.fabric,
    )
    led = None if leader is None else trouble.cluster.replica_of(leader, trouble.partition)
    if leader is None or led is None or leader is node or node.id not in led.isr:
        return
    others = [each.name for each in trouble.cluster.nodes if each is not node]
    trouble.say("network", f"drops all traffic between {leader.name} and {node.name}")
    trouble.cluster.cut(leader.id, node.id)
    trouble.cluster.cut(node.id, leader.id)
    try:
        await trouble.wait_until(lambda: node.id not in led.isr, seconds=_LAG_SECONDS_MAX)
        committed = led.require_log().high_watermark
        await trouble.wait_until(lambda: led.require_log().high_watermark > committed, seconds=2)
    except (TimeoutError, KafkaError):
        pass
    else:
        for other in others:
            fabric.slow(other, node.name, seconds=0.2, bytes_per_second=1e6)
        # Time for the acknowledgement to reach the producer.
        await trouble.world.sleep(0.002)
        leader.kill()
    await trouble.wait()
    for other in others:
        fabric.heal(other, node.name)
        fabric.heal(node.name, other)
    trouble.say("network", f"is healed around {node.name}")
    start_again(leader)


async def end_ahead(trouble: Trouble) -> None:
    """Kills a coordinator just after it has written a decision that one replica does not receive.

    The decision is that of a transaction, or a group's offset. A client may have received the
    response.
    """
    node, behind = trouble.node, trouble.other
    is_ahead = _has_decided if trouble.dice.chance(0.5) else _has_unsettled_groups
    try:
        await trouble.wait_until(lambda: is_ahead(trouble), seconds=_AHEAD_SECONDS_MAX)
    except TimeoutError:
        return
    trouble.say("network", f"drops all traffic from {node.name} to {behind.name}")
    trouble.cluster.cut(node.id, behind.id)
    await trouble.world.sleep(trouble.dice.below(_HEARSAY_MICROSECONDS) / 1e6)
    node.kill()
    trouble.fabric.heal(node.name, behind.name)
    await trouble.wait()
    start_again(node)


async def answer_late(trouble: Trouble) -> None:
    """Delays the verification of transactional batches, so that markers may overtake it.

    The responses of the transaction coordinators to a partition leader are delayed. Markers of
    transactions that were decided meanwhile arrive before them.
    """
    node = trouble.node
    late_ms = trouble.dice.between(low=10, high=80)
    trouble.say(node.name, f"gets responses to its verification requests {late_ms} ms late")
    end = trouble.world.now + trouble.seconds
    while trouble.world.now < end:
        for connection in _verification_connections(trouble):
            connection.other.outgoing.stall(late_ms / 1_000)
        await trouble.world.sleep(_STALLING_SECONDS)


def _verification_connections(trouble: Trouble) -> Iterator[Any]:
    """The node's connections for verification requests."""
    broker = trouble.cluster.observer(trouble.node).broker
    if broker is not None and trouble.node.is_running:
        for (_, lane), peer in broker.peers._peers.items():  # noqa: SLF001
            channel = peer._channel  # noqa: SLF001
            if lane is PeerLane.VERIFICATION and channel is not None:
                yield channel._connection  # noqa: SLF001


def _has_decided(trouble: Trouble) -> bool:
    return any(
        any(each.state.is_prepared for each in shard.machine.transactions)
        for shard in _unsettled(trouble, lambda broker: broker.coordinators.transactions.all)
    )


def _has_unsettled_groups(trouble: Trouble) -> bool:
    return any(_unsettled(trouble, lambda broker: broker.coordinators.groups.all))


def _unsettled(
    trouble: Trouble, shards_of: Callable[[Broker], Sequence[Shard[Any]]]
) -> Iterator[Shard[Any]]:
    """The active coordinators of the node with records that are not committed yet."""
    broker = trouble.cluster.observer(trouble.node).broker
    if broker is not None and trouble.node.is_running:
        for shard in shards_of(broker):
            if shard.state is ShardState.ACTIVE and not shard.is_settled:
                yield shard
