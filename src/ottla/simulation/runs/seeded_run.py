"""Runs one seed: load, faults, healing, recovery, and a check of all claims.

start ──▶ load and faults ──▶ healing ──▶ recovery ──▶ calm ──▶ recovery ──▶ record the end
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ottla.metadata import MetadataImage
from ottla.metadata.features import SHARE_VERSION
from ottla.model import TopicPartition
from ottla.model.internal_topics import TRANSACTION_STATE
from ottla.schemas.packages import missing_packages
from ottla.simulation.claims.checked_claims import CHECKED
from ottla.simulation.claims.claims import Violation, violations
from ottla.simulation.clients import SimulatedAdmin
from ottla.simulation.clients.two_phase_client import JOURNAL
from ottla.simulation.cluster.cluster import SimulatedCluster, start_cluster
from ottla.simulation.cluster.cluster_security import SimulatedSecurity
from ottla.simulation.cluster.onlooker import Onlooker
from ottla.simulation.faults.fault_plan import Plan, PlannedFault
from ottla.simulation.faults.faults import FAULTS, SECURITY_FAULTS
from ottla.simulation.faults.membership_faults import is_drained
from ottla.simulation.faults.trouble import Trouble, start_again
from ottla.simulation.history.history import Healed, History, LogRecovered, Noted
from ottla.simulation.runs.checked_load import (
    CHECKED_CONFIGS,
    CHECKED_PARTITIONS,
    LETTERS,
    LETTERS_CONFIGS,
    SCHEMAS,
    SCHEMAS_CONFIGS,
)
from ottla.simulation.runs.delay_load import DELAYED_CONFIGS, DELAYED_TOPIC
from ottla.simulation.runs.load import SimulatedLoad
from ottla.simulation.runs.security_load import SecurityLoad
from ottla.simulation.runs.share_load import SHARE_CONFIGS, SHARE_GROUP
from ottla.simulation.runs.transaction_load import COPIES, GROUP, OUTPUTS
from ottla.simulation.runs.two_phase_load import (
    JOURNAL_CONFIGS,
    JOURNAL_PARTITIONS,
    SUNK,
)
from ottla.simulation.runs.two_phase_load import OUTPUTS as SUNK_PARTITIONS
from ottla.simulation.seams.scheduler import StuckError
from ottla.simulation.world.node import TENANTS, SimulatedNode
from ottla.simulation.world.world import World

TOPIC: Final = "ledger"
# Longer than any timeout of a node or client.
RECOVERY_SECONDS_MAX: Final = 30.0
_START_SECONDS_MAX: Final = 60.0
_REPLICAS: Final = 3
_COMPACTING_PROPERTIES: Final = {
    "log.roll.ms": "2000",
    "log.cleaner.backoff.ms": "500",
    "log.cleaner.min.cleanable.ratio": "0.01",
}
# Short timeouts, so that groups remove failed members before the run ends.
_GROUP_PROPERTIES: Final = {
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
}
_SHARE_PROPERTIES: Final = {
    "group.share.heartbeat.interval.ms": "1000",
    "group.share.min.heartbeat.interval.ms": "1000",
    "group.share.session.timeout.ms": "6000",
    "group.share.min.session.timeout.ms": "6000",
    "group.share.record.lock.duration.ms": "3000",
    "group.share.min.record.lock.duration.ms": "1000",
    "share.coordinator.state.topic.num.partitions": "2",
    # Often enough to happen in a run.
    "share.coordinator.snapshot.update.records.per.snapshot": "20",
    "share.coordinator.cold.partition.snapshot.interval.ms": "5000",
    "share.coordinator.state.topic.prune.interval.ms": "3000",
}
STATE_PARTITIONS: Final = 2
_TENANT_PROPERTIES = {
    "ottla.tenant.listeners": ",".join(f"{tenant.upper()}:{tenant}" for tenant in TENANTS)
}
_TRANSACTION_PROPERTIES: Final = {
    "transaction.state.log.num.partitions": str(STATE_PARTITIONS),
}
_SUPERVISION_SECONDS: Final = 1.0
_UPGRADE: Final = 1
_ROOM_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """The result of a run."""

    plan: Plan
    history: History
    violations: list[Violation]
    virtual_seconds: float
    calls: int

    @property
    def is_clean(self) -> bool:
        return not self.violations


def run_plan(plan: Plan, *, notes: bool = False) -> SeedOutcome:
    """Runs a plan and checks its history against all claims."""
    if plan.checked and missing_packages():
        plan = plan._replace(checked=0)
    world = World(plan.seed, notes=notes)
    found: list[Violation] = []
    try:
        world.run(lambda world: _story(world, plan))
    except (StuckError, TimeoutError) as error:
        found.append(Violation("TheStoryEnds", f"{type(error).__name__}: {error}"))
    found += violations(world.history)
    return SeedOutcome(plan, world.history, found, world.now, world.scheduler.calls)


async def _story(world: World, plan: Plan) -> None:
    properties = {
        "metadata.log.max.record.bytes.between.snapshots": str(plan.snapshot_bytes),
        "replica.lag.time.max.ms": str(plan.lag_ms_max),
        "controller.quorum.retry.backoff.ms": "100",
        # Producers would create topics that an operator has deleted.
        "auto.create.topics.enable": "false",
        **_GROUP_PROPERTIES,
        **_SHARE_PROPERTIES,
        **_TRANSACTION_PROPERTIES,
    }
    if plan.has_tenants:
        properties |= _TENANT_PROPERTIES
    if plan.compacts:
        properties |= _COMPACTING_PROPERTIES
    if plan.is_durable:
        # Committed offsets must survive whatever the records survive.
        properties["log.flush.interval.messages"] = "1"
    security = None
    if plan.is_secured:
        security = SimulatedSecurity(world, topic=TOPIC, copies=COPIES, copiers=GROUP)
    cluster = start_cluster(
        world, nodes=plan.nodes, voters=plan.voters, properties=properties, security=security
    )
    skew = world.dice.fork("skew")
    for node in cluster.nodes:
        node.clock.jump(skew.between(low=-plan.skew_ms_max, high=plan.skew_ms_max))
    await cluster.wait_serving(seconds=_START_SECONDS_MAX)
    admin = cluster.admin()
    await _create_topics(admin, plan)
    load = SimulatedLoad(world, cluster, TOPIC, plan)
    secured = None
    if security is not None:
        secured = SecurityLoad(world, cluster, security, TopicPartition(TOPIC, 0), GROUP)
        await secured.start()
    load.start()
    onlooker = Onlooker(world, cluster, load.all_partitions)
    onlooker.start()
    started = world.now
    troubles = [
        asyncio.get_running_loop().create_task(_suffer(world, cluster, plan, fault, started))
        for fault in plan.faults
    ]
    await world.sleep(plan.seconds)
    for trouble in troubles:
        trouble.cancel()
    heal(world, cluster)
    operators = [
        asyncio.get_running_loop().create_task(operate(world, cluster))
        for operate in (_supervise, _tidy)
    ]
    if plan.share_members:
        operators.append(asyncio.get_running_loop().create_task(_offer_shares(world, cluster)))
    if secured is not None:
        operators.append(asyncio.get_running_loop().create_task(secured.restore()))
    load.end()
    if await _recover(world, cluster, load, secured) and plan.calm_seconds:
        load.go_on()
        await world.sleep(plan.calm_seconds)
        heal(world, cluster)
        load.end()
        await _recover(world, cluster, load, secured)
    for operator in operators:
        operator.cancel()
    _record_end(cluster, load)
    if secured is not None:
        secured.stop()


async def _create_topics(admin: SimulatedAdmin, plan: Plan) -> None:
    configs = {"flush.messages": "1"} if plan.is_durable else {}
    await admin.create_topic(TOPIC, partitions=plan.partitions, configs=configs)
    if plan.copiers:
        await admin.create_topic(COPIES, partitions=OUTPUTS, configs=configs)
    if plan.queries:
        await admin.create_topic(SUNK, partitions=SUNK_PARTITIONS, configs=configs)
    if plan.queries and plan.compacts:
        # Otherwise the queries create it.
        journal_configs = {**JOURNAL_CONFIGS, **configs}
        await admin.create_topic(JOURNAL, partitions=JOURNAL_PARTITIONS, configs=journal_configs)
    if plan.checked:
        await admin.create_topic(SCHEMAS, configs={**SCHEMAS_CONFIGS, **configs})
        await admin.create_topic(LETTERS, configs={**LETTERS_CONFIGS, **configs})
        checks = {**CHECKED_CONFIGS, **configs}
        await admin.create_topic(CHECKED, partitions=CHECKED_PARTITIONS, configs=checks)
    if plan.share_members:
        await admin.alter_group(SHARE_GROUP, SHARE_CONFIGS)
    if plan.has_delays:
        await admin.create_topic(DELAYED_TOPIC, configs={**configs, **DELAYED_CONFIGS})


async def _suffer(
    world: World, cluster: SimulatedCluster, plan: Plan, fault: PlannedFault, started: float
) -> None:
    await world.sleep(started + fault.at - world.now)
    admin = cluster.admin(name=f"admin {fault.number}")
    topic, partitions = _topic_of(plan, fault)
    trouble = Trouble(world, cluster, admin, topic, partitions, fault)
    await {**FAULTS, **SECURITY_FAULTS}[fault.name](trouble)


def _topic_of(plan: Plan, fault: PlannedFault) -> tuple[str, int]:
    """The topic that a fault affects and its number of partitions."""
    topics = [(TOPIC, plan.partitions)]
    if plan.copiers:
        topics += [(COPIES, OUTPUTS), (TRANSACTION_STATE, STATE_PARTITIONS)]
    if plan.checked:
        topics += [(CHECKED, CHECKED_PARTITIONS), (LETTERS, 1)]
    if plan.queries:
        topics += [(TRANSACTION_STATE, STATE_PARTITIONS), (JOURNAL, JOURNAL_PARTITIONS)]
    if plan.has_delays:
        topics.append((DELAYED_TOPIC, 1))
    return topics[(fault.number >> 3) % len(topics)]


def heal(world: World, cluster: SimulatedCluster) -> None:
    """Reverts all faults and starts all nodes that do not run."""
    world.fabric.heal_all()
    for host in world.hosts:
        host.resume()
    for node in cluster.nodes:
        # A failed log directory stays offline until an operator restarts the node.
        if node.disk.room_left() < _ROOM_BYTES:
            node.disk.limit_space(None)
            node.kill()
        if node.disk.faults.is_failing or _has_failed(node):
            node.kill()
        node.disk.faults.heal("/")
        node.disk.faults.power_on()
        node.disk.faults.corrupt_sent(None)
        node.resume()
        start_again(node)
    world.record(Healed("world"))


def _has_failed(node: SimulatedNode) -> bool:
    """Whether the node or a log directory has failed and needs a restart."""
    running = node.node if node.is_serving else None
    return running is not None and (running.failure is not None or bool(running.broker.logs.failed))


async def _recover(
    world: World, cluster: SimulatedCluster, load: SimulatedLoad, secured: SecurityLoad | None
) -> bool:
    """Waits for the recovery. Returns whether it succeeded in time."""
    began = world.now
    partitions = load.all_partitions

    def reasons() -> Iterator[str]:
        yield from load.reasons()
        yield from _reasons(cluster, partitions)
        if secured is not None:
            yield from secured.reasons()

    try:
        await world.wait_until(lambda: not any(reasons()), seconds=RECOVERY_SECONDS_MAX)
    except TimeoutError:
        for reason in reasons():
            world.record(Noted("world", f"not recovered: {reason}"))
        return False
    world.record(LogRecovered("world", round(world.now - began, 3)))
    return True


def _record_end(cluster: SimulatedCluster, load: SimulatedLoad) -> None:
    """Stops the load and records the final state of all nodes."""
    load.stop()
    for observer in cluster.observers:
        observer.record_replicas()
    load.record_end()


async def _supervise(world: World, cluster: SimulatedCluster) -> None:
    """Restarts ended nodes, as an operator or supervisor does."""
    while True:
        for node in cluster.nodes:
            start_again(node)
        await world.sleep(_SUPERVISION_SECONDS)


async def _offer_shares(world: World, cluster: SimulatedCluster) -> None:
    """Switches share groups on again, in case that a fault has left them switched off."""
    admin = cluster.admin(name="share operator")
    while True:
        await admin.update_feature(SHARE_VERSION, level=1, upgrade_type=_UPGRADE)
        await world.sleep(_SUPERVISION_SECONDS)


async def _tidy(world: World, cluster: SimulatedCluster) -> None:
    """Moves replicas away from removed nodes, in case a concurrent fault assigned them."""
    admin = cluster.admin(name="tidy")
    while True:
        for node_id in cluster.gone:
            await is_drained(cluster, admin, node_id)
        await world.sleep(_SUPERVISION_SECONDS)


def _reasons(cluster: SimulatedCluster, partitions: list[TopicPartition]) -> list[str]:
    """Why the cluster has not recovered: ended nodes, lagging replicas or reassignments."""
    found = [f"{node.name} does not serve" for node in cluster.nodes if not node.is_serving]
    ends: dict[TopicPartition, set[tuple[int, int]]] = {each: set() for each in partitions}
    offsets = set()
    for observer in cluster.observers:
        broker = observer.broker
        if broker is None:
            continue
        offsets.add(broker.metadata.end_offset)
        for partition in broker.partitions:
            if partition.name in ends and partition.log is not None:
                log = partition.log
                ends[partition.name].add((log.log_end_offset, log.high_watermark))
            if partition.name in ends and partition.is_leader and len(partition.isr) < _REPLICAS:
                found.append(f"{partition.name} has the ISR {sorted(partition.isr)}")
        found += _moving(broker.cluster.image)
    found += [f"{name} ends at {sorted(seen)}" for name, seen in ends.items() if len(seen) != 1]
    if len(offsets) > 1:
        found.append(f"metadata is known up to {sorted(offsets)}")
    return found


def _moving(image: MetadataImage) -> list[str]:
    return [
        f"{topic.name}-{index} moves from {partition.removing_replicas} to "
        f"{partition.adding_replicas}"
        for topic in image.topics
        for index, partition in topic.partitions.items()
        if partition.adding_replicas or partition.removing_replicas
    ]
