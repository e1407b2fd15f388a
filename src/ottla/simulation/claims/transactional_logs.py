"""Reads transactional logs and coordinator state from the nodes and records them for the claims."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from ottla.broker.broker import Broker
from ottla.coordinator.transactions.states import TransactionState
from ottla.model import TopicPartition
from ottla.model.internal_topics import TRANSACTION_STATE
from ottla.simulation.cluster.cluster import SimulatedCluster
from ottla.simulation.history.history import Event
from ottla.simulation.history.transaction_events import (
    Decision,
    DecisionsLogged,
    GroupLogHas,
    GroupOffsetAtEnd,
    LoggedRow,
    TransactionalLogHas,
    TransactionHangs,
)
from ottla.wire.records.batch import iterate_batches
from ottla.wire.records.control import ControlRecordType, read_control_type
from ottla.wire.records.record import iterate_records
from ottla.wire.stored.coordinator_records import GROUP_RECORDS, TRANSACTION_RECORDS

_READ_BYTES: Final = 1 << 24
_MARKERS: Final = {
    TransactionState.PREPARE_COMMIT: ControlRecordType.COMMIT.name,
    TransactionState.PREPARE_ABORT: ControlRecordType.ABORT.name,
}


class OpenPartition(NamedTuple):
    """A partition whose last stable offset is below its high watermark."""

    partition: TopicPartition
    last_stable_offset: int
    high_watermark: int


def open_partitions(cluster: SimulatedCluster) -> Iterator[OpenPartition]:
    for broker in _brokers(cluster):
        for partition in broker.partitions:
            log = partition.log
            if log is not None and partition.is_leader:
                stable, high = log.last_stable_offset, log.high_watermark
                if stable < high:
                    yield OpenPartition(partition.name, stable, high)


def record_hanging(record: Callable[[Event], None], cluster: SimulatedCluster) -> None:
    for each in open_partitions(cluster):
        record(TransactionHangs("world", *each))


def record_logs(record: Callable[[Event], None], cluster: SimulatedCluster, topic: str) -> None:
    """Records the content of every replica of a topic, including markers."""
    for node, partition, rows in rows_of_replicas(cluster, topic):
        record(TransactionalLogHas(node, partition, rows))


def rows_of_replicas(
    cluster: SimulatedCluster, topic: str
) -> Iterator[tuple[str, TopicPartition, tuple[LoggedRow, ...]]]:
    """For every replica of a topic: the name of its node, the partition, and the content."""
    for node, broker in zip(cluster.nodes, map(_broker_of, cluster.observers), strict=True):
        if broker is None:
            continue
        for partition in sorted(broker.partitions, key=lambda each: each.name):
            if partition.log is not None and partition.name.topic == topic:
                yield node.name, partition.name, tuple(_rows(partition.log))


def record_decisions(record: Callable[[Event], None], cluster: SimulatedCluster) -> None:
    """Records the coordinators' decisions; nothing if a coordinator's log was compacted or has no
    leader, because decisions would be missing.
    """
    replicas = [
        partition
        for broker in _brokers(cluster)
        for partition in sorted(broker.partitions, key=lambda each: each.name)
        if partition.name.topic == TRANSACTION_STATE
    ]
    leaders = {each.name: each for each in replicas if each.is_leader}
    decisions: list[Decision] = []
    for name in sorted({each.name for each in replicas}):
        if name not in leaders:
            return
        for expected, (offset, decision) in enumerate(_decisions(leaders[name].require_log())):
            if offset != expected:
                return
            if decision is not None:
                decisions.append(decision)
    record(DecisionsLogged("world", tuple(decisions)))


def record_group_offsets(
    record: Callable[[Event], None], cluster: SimulatedCluster, group: str
) -> None:
    for broker in _brokers(cluster):
        for shard in broker.coordinators.groups.all:
            name = broker.coordinators.groups.partition_of(group)
            if shard.name != name:
                continue
            for topic, offsets in shard.machine.offsets.of_group(group).items():
                for index, committed in sorted(offsets.items()):
                    partition = TopicPartition(topic, index)
                    record(GroupOffsetAtEnd("world", group, partition, committed.offset))


def record_group_log(
    record: Callable[[Event], None], cluster: SimulatedCluster, group: str
) -> None:
    """Records the group's transactional commits; nothing if its log is compacted or leaderless."""
    for broker in _brokers(cluster):
        name = broker.coordinators.groups.partition_of(group)
        partition = None if name is None else broker.partitions.get(name)
        if partition is None or not partition.is_leader:
            continue
        offsets = _committed_offsets(partition.require_log(), group)
        if offsets is not None:
            record(GroupLogHas("world", group, tuple(offsets)))
        return


def read_batches(log: Any) -> Iterator[tuple[memoryview, int, Any]]:
    """Every batch of a log: the buffer that contains it, its position there, and its header."""
    offset = log.log_start_offset
    while offset < log.log_end_offset:
        piece = log.read(
            offset, bytes_max=_READ_BYTES, upper_offset=log.log_end_offset, min_one_batch=True
        )
        if piece is None:
            return
        buffer = memoryview(piece.read())
        before = offset
        for position, header in iterate_batches(buffer):
            if header.next_offset > offset:
                yield buffer, position, header
                offset = header.next_offset
        if offset == before:
            return


def _decisions(log: Any) -> Iterator[tuple[int, Decision | None]]:
    """Each record's offset and the decision that it contains, if any."""
    for buffer, position, _ in read_batches(log):
        for each in iterate_records(buffer, position):
            if each.key is None or each.value is None:
                yield each.offset, None
                continue
            key = TRANSACTION_RECORDS.decode_key(each.key)
            value: Any = TRANSACTION_RECORDS.decode_value(key, each.value)[0]
            marker = _MARKERS.get(value.transaction_status)
            decision = Decision(value.producer_id, value.producer_epoch, marker or "")
            yield each.offset, None if marker is None else decision


def _committed_offsets(log: Any, group: str) -> list[tuple[TopicPartition, int]] | None:
    """The offsets committed in transactions; None if records are missing from the log."""
    committed: list[tuple[TopicPartition, int]] = []
    pending: dict[int, list[tuple[TopicPartition, int]]] = {}
    expected = 0
    for buffer, position, header in read_batches(log):
        for each in iterate_records(buffer, position):
            if each.offset != expected or each.key is None:
                return None
            expected += 1
            if header.is_control:
                ended = pending.pop(header.producer_id, [])
                if read_control_type(each.key) is ControlRecordType.COMMIT:
                    committed += ended
            elif header.is_transactional and each.value is not None:
                key: Any = GROUP_RECORDS.decode_key(each.key)
                value: Any = GROUP_RECORDS.decode_value(key, each.value)[0]
                if key.group == group:
                    name = TopicPartition(key.topic, key.partition)
                    pending.setdefault(header.producer_id, []).append((name, value.offset))
    return committed


def _rows(log: Any) -> Iterator[LoggedRow]:
    for buffer, position, header in read_batches(log):
        for each in iterate_records(buffer, position):
            marker = read_control_type(each.key).name if header.is_control else ""
            value = b"" if header.is_control else each.value or b""
            yield LoggedRow(each.offset, header.producer_id, header.producer_epoch, marker, value)


def _broker_of(observer: Any) -> Broker | None:
    broker: Broker | None = observer.broker
    return broker


def _brokers(cluster: SimulatedCluster) -> list[Broker]:
    return [broker for broker in map(_broker_of, cluster.observers) if broker is not None]
