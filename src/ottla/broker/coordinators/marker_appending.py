"""Appends transaction markers to partitions that this node leads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.broker.coordinators.coordinator_shards import CoordinatorShards
from ottla.broker.coordinators.partition_log import PartitionLog
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.coordinator.runtime.transactional import TransactionMarker
from ottla.model import Buffer, ErrorCode, KafkaError, TopicPartition
from ottla.model.internal_topics import CONSUMER_OFFSETS, is_writable_by_clients
from ottla.replication.partitions import Partitions
from ottla.storage.log.group_commit import GroupCommit

if TYPE_CHECKING:
    from ottla.coordinator.groups.coordinator import GroupCoordinator


class MarkerAppender:
    """One per node. The group coordinator writes the markers in `__consumer_offsets`; other
    internal topics cannot be in a transaction."""

    def __init__(
        self,
        partitions: Partitions,
        commit: GroupCommit,
        failures: StorageFailures,
        groups: CoordinatorShards[GroupCoordinator],
    ) -> None:
        self._partitions = partitions
        self._commit = commit
        self._failures = failures
        self._groups = groups

    def append(
        self,
        name: TopicPartition,
        marker: TransactionMarker,
        batch: Buffer,
        callback: Callable[[ErrorCode], None],
        *,
        now_ms: int,
    ) -> None:
        """Appends `batch`, which contains `marker`. Calls `callback` once: with NONE when all
        in-sync replicas have it, or with an error."""
        try:
            partition = self._partitions.by_name(name.topic, name.partition)
            if name.topic == CONSUMER_OFFSETS:
                self._groups.end_transaction(name.partition, marker, callback)
                return
            if not is_writable_by_clients(name.topic):
                raise KafkaError(
                    ErrorCode.INVALID_TOPIC_EXCEPTION,
                    f"internal topic {name} cannot be part of a transaction",
                )
            log = PartitionLog(self._commit, self._failures, partition)
            # A copy, because the log writes the offset into the batch.
            end_offset = log.append(
                bytearray(batch), now_ms=now_ms, transaction_version=marker.transaction_version
            )
        except KafkaError as error:
            callback(error.code)
            return
        if log.is_committed(end_offset):
            callback(ErrorCode.NONE)
        else:
            log.when_committed(end_offset, callback)
