"""Compares the coordinators' state in memory with what a successor would load from their logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ottla.broker.broker import Broker
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.groups.replaying import GroupReplay
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.replay import Replay
from ottla.coordinator.runtime.shard import Shard, ShardState
from ottla.coordinator.runtime.state_machine import StateMachine
from ottla.coordinator.transactions.replaying import TransactionReplay
from ottla.coordinator.transactions.transaction import Transaction
from ottla.model import NO_PRODUCER_EPOCH, TopicPartition
from ottla.simulation.claims.transactional_logs import read_batches
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.history import Event
from ottla.simulation.history.transaction_events import CoordinatorDiffers


def record_differences(record: Callable[[Event], None], cluster: SimulatedCluster) -> None:
    """Checks every active coordinator. Its state includes records that are not committed yet, so it
    is compared with the whole log.
    """
    for node, observer in zip(cluster.nodes, cluster.observers, strict=True):
        broker = observer.broker
        if broker is None:
            continue
        for shard in broker.coordinators.transactions.all:
            if shard.state is ShardState.ACTIVE:
                held = _transactions(shard.machine)
                said = _transactions(_replayed_ids(broker, shard))
                _record_differences(record, node.name, shard.name, held=held, said=said)
        for each in broker.coordinators.groups.all:
            if each.state is ShardState.ACTIVE:
                _record_differences(
                    record,
                    node.name,
                    each.name,
                    held=_offsets(each.machine),
                    said=_offsets(_replayed_groups(broker, each)),
                )


def _record_differences(
    record: Callable[[Event], None],
    who: str,
    partition: TopicPartition,
    *,
    held: Mapping[str, object],
    said: Mapping[str, object],
) -> None:
    for key in sorted({*held, *said}):
        if held.get(key) != said.get(key):
            what = f"{key} is {held.get(key)}, and {said.get(key)} in the log"
            record(CoordinatorDiffers(who, partition, what))


def _transactions(machine: TransactionReplay) -> dict[str, Transaction]:
    """The transactions by id, without the last producer epoch, which is not stored in the log."""
    return {
        each.transactional_id: each._replace(last_producer_epoch=NO_PRODUCER_EPOCH)
        for each in machine.transactions
    }


def _offsets(machine: GroupReplay) -> dict[str, dict[TopicPartition, tuple[int, bool]]]:
    """By group and partition: the committed offset, and whether a transactional one is pending."""
    offsets = machine.offsets
    found: dict[str, dict[TopicPartition, tuple[int, bool]]] = {}
    for group in machine.groups:
        for name in offsets.partitions_of(group.id):
            committed = offsets.get(group.id, *name)
            offset = -1 if committed is None else committed.offset
            is_pending = offsets.is_pending(group.id, *name)
            found.setdefault(group.id, {})[name] = (offset, is_pending)
    return found


def _replayed_ids(broker: Broker, shard: Shard[Any]) -> TransactionReplay:
    # A replay uses neither timers nor any other part of the context.
    nothing: Any = shard.machine._context  # noqa: SLF001
    machine = TransactionReplay(nothing)
    _replay(broker, shard.name, machine)
    return machine


def _replayed_groups(broker: Broker, shard: Shard[Any]) -> GroupReplay:
    nothing: Any = shard.machine._context  # noqa: SLF001
    context: GroupContext = replace(nothing, groups=Groups(), offsets=Offsets())
    machine = GroupReplay(context)
    _replay(broker, shard.name, machine)
    return machine


def _replay(broker: Broker, name: TopicPartition, machine: Any) -> None:
    taken: StateMachine = machine
    partition = broker.partitions.get(name)
    assert partition is not None
    log = partition.require_log()
    replay = Replay(name, taken, start_offset=log.log_start_offset)
    for buffer, position, header in read_batches(log):
        batch = buffer[position : position + header.size_in_bytes]
        for _ in replay.apply(batch):
            pass
    for _ in replay.finish():
        pass
