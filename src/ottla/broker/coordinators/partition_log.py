"""A partition led by this node, used as the log of a coordinator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import Buffer, ErrorCode, KafkaError
from ottla.replication.partition import ACKS_ALL, Partition
from ottla.storage.batches.leader_batch import Origin
from ottla.storage.log.group_commit import GroupCommit
from ottla.storage.log.log import Log
from ottla.storage.producers.verification import Verification

_COORDINATOR: Final = Origin.COORDINATOR


class PartitionLog:
    """Used by one shard, while this node leads the partition."""

    def __init__(
        self,
        commit: GroupCommit,
        failures: StorageFailures,
        partition: Partition,
    ) -> None:
        self._commit = commit
        self._failures = failures
        self._partition = partition

    @property
    def end_offset(self) -> int:
        log = self._partition.log
        return 0 if log is None else log.log_end_offset

    def append(
        self,
        batch: Buffer,
        *,
        now_ms: int,
        transaction_version: int = 0,
        verification: Verification | None = None,
    ) -> int:
        with self._failures.translated(self._partition):
            result = self._partition.append(
                batch,
                now_ms=now_ms,
                origin=_COORDINATOR,
                acks=ACKS_ALL,
                transaction_version=transaction_version,
                verification=verification,
            )
        return result.last_offset + 1

    def is_committed(self, end_offset: int) -> bool:
        partition, log = self._partition, self._partition.log
        if log is None or not partition.is_leader:
            return False
        is_durable = not log.config.syncs_before_acknowledging or log.recovery_point >= end_offset
        # Holds even if the ISR is below min.insync.replicas by now: that only rejects appends.
        return is_durable and log.high_watermark >= end_offset

    def when_committed(self, end_offset: int, callback: Callable[[ErrorCode], None]) -> None:
        partition = self._partition
        try:
            partition.require_leader()
            log = partition.require_log()
        except KafkaError as error:
            callback(error.code)
            return
        if not log.config.syncs_before_acknowledging:
            partition.when_acknowledged(end_offset, callback)
            return

        def synced(durable: asyncio.Future[None]) -> None:
            error = self._sync_error(log, durable)
            if error:
                callback(error)
            else:
                partition.when_acknowledged(end_offset, callback)

        self._commit.when_durable(log, end_offset).add_done_callback(synced)

    def _sync_error(self, log: Log, durable: asyncio.Future[None]) -> ErrorCode:
        error = None if durable.cancelled() else durable.exception()
        if isinstance(error, OSError):
            error = self._failures.log_failed(log, error)
        if isinstance(error, KafkaError):
            return error.code
        return ErrorCode.NONE if error is None else ErrorCode.UNKNOWN_SERVER_ERROR
