"""A marker appended to a partition that this node leads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.broker.coordinators.partition_log import PartitionLog
from ottla.coordinator.runtime.transactional import TransactionMarker
from ottla.model import Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.model.internal_topics import CONSUMER_OFFSETS, is_writable_by_clients

if TYPE_CHECKING:
    from ottla.broker.broker import Broker


def append_marker(
    broker: Broker,
    name: TopicPartition,
    marker: TransactionMarker,
    batch: Buffer,
    told: Callable[[ErrorCode], None],
    *,
    now_ms: int,
) -> None:
    """Has `told` called once: with NONE when all in-sync replicas have the marker, which `batch` is
    of. In `__consumer_offsets` the group coordinator writes its own; other internal topics
    are in no transaction."""
    try:
        partition = broker.partitions.by_name(name.topic, name.partition)
        if name.topic == CONSUMER_OFFSETS:
            broker.coordinators.groups.end_transaction(name.partition, marker, told)
            return
        if not is_writable_by_clients(name.topic):
            raise KafkaError(
                ErrorCode.INVALID_TOPIC_EXCEPTION, f"{name} cannot be in a transaction"
            )
        log = PartitionLog(broker, partition)
        # The log writes an offset into what it appends.
        end_offset = log.append(
            bytearray(batch), now_ms=now_ms, transaction_version=marker.transaction_version
        )
    except KafkaError as error:
        told(error.code)
        return
    if log.is_committed(end_offset):
        told(ErrorCode.NONE)
    else:
        log.when_committed(end_offset, told)
