"""DeleteRecords, versions 0 to 2: deletes the records before an offset (KIP-107).

Offset -1 means the high watermark. The response is sent when neither a crash nor a new leader can
restore the records: this node has checkpointed the new log start offset, and every live replica has
deleted the records too.

Errors per partition: TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC_OR_PARTITION,
NOT_LEADER_OR_FOLLOWER, OFFSET_OUT_OF_RANGE, KAFKA_STORAGE_ERROR, POLICY_VIOLATION for a topic that
is only compacted, INVALID_TOPIC_EXCEPTION for an internal topic, REQUEST_TIMED_OUT if a replica has
not deleted the records in time.
"""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.pending import Pending
from ottla.broker.network.refused_topics import refused_topics, unauthorized_topic
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import ErrorCode, KafkaError
from ottla.model.internal_topics import is_internal_topic
from ottla.replication.offset_waiters import OffsetWaiter
from ottla.replication.partition import Partition
from ottla.replication.partitions import Partitions
from ottla.runtime.clock import Clock
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.storage.directories.log_store import LogStore
from ottla.wire.apis import ApiKey
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    DeleteRecordsTopicResult,
)

_HIGH_WATERMARK: Final = -1
_INVALID_LOW_WATERMARK: Final = -1


class _Moved(NamedTuple):
    """A partition whose log start offset is now at least `offset`."""

    partition: Partition
    directory: str
    offset: int
    result: DeleteRecordsPartitionResult


@handles(ApiKey.DELETE_RECORDS, rights=(Right(AclOperation.DELETE, ResourceType.TOPIC),))
def delete_records(
    context: RequestContext,
    request: DeleteRecordsRequest,
    *,
    clock: Clock,
    logs: LogStore,
    partitions: Partitions,
    failures: StorageFailures,
) -> DeleteRecordsResponse | Pending:
    moved: list[_Moved] = []
    refused = refused_topics(context.rights, AclOperation.DELETE, request.topics)
    topics = [
        DeleteRecordsTopicResult(
            name=topic.name,
            partitions=_delete(partitions, topic, moved, is_refused=topic.name in refused),
        )
        for topic in request.topics
    ]
    _make_durable(logs, failures, moved)
    response = DeleteRecordsResponse(topics=topics)
    waiting = [
        each
        for each in moved
        if not each.result.error_code and each.partition.low_watermark < each.offset
    ]
    if not waiting:
        return response
    return _Waiting(clock, response, waiting, timeout_ms=request.timeout_ms).pending


def _delete(
    partitions: Partitions, topic: DeleteRecordsTopic, moved: list[_Moved], *, is_refused: bool
) -> list[DeleteRecordsPartitionResult]:
    results = []
    for requested in topic.partitions:
        result = DeleteRecordsPartitionResult(partition_index=requested.partition_index)
        try:
            if is_refused:
                raise unauthorized_topic(topic.name)
            partition = partitions.by_name(topic.name, requested.partition_index)
            offset = _delete_before(partition, requested.offset)
        except KafkaError as error:
            _refuse(result, error)
        else:
            log = partition.require_log()
            result.low_watermark = log.log_start_offset
            moved.append(_Moved(partition, log.directory, offset, result))
        results.append(result)
    return results


def _delete_before(partition: Partition, offset: int) -> int:
    if is_internal_topic(partition.name.topic):
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"records of the internal topic {partition.name.topic} cannot be deleted",
        )
    partition.require_leader()
    log = partition.require_log()
    if log.config.compact and not log.config.delete:
        raise KafkaError(
            ErrorCode.POLICY_VIOLATION,
            f"{partition.name} is compacted; DeleteRecords needs delete in its cleanup.policy",
        )
    if offset == _HIGH_WATERMARK:
        offset = log.high_watermark
    if offset < 0:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} is not a valid offset")
    partition.delete_records_before(offset)
    return offset


def _make_durable(logs: LogStore, failures: StorageFailures, moved: list[_Moved]) -> None:
    """Checkpoints the log start offsets, once per log directory."""
    paths = {each.directory.rpartition("/")[0] for each in moved}
    for directory in logs.directories:
        if directory.path not in paths:
            continue
        try:
            directory.write_checkpoints()
        except OSError as error:
            failure = failures.directory_failed(directory.path, error)
            for each in moved:
                if each.directory.startswith(f"{directory.path}/"):
                    _refuse(each.result, failure)


class _Waiting:
    """Responds when all live replicas have deleted the records, or at the timeout."""

    def __init__(
        self,
        clock: Clock,
        response: DeleteRecordsResponse,
        moved: list[_Moved],
        *,
        timeout_ms: int,
    ) -> None:
        self.pending = Pending(on_abandoned=self._stop)
        self._response = response
        self._missing = len(moved)
        self._timer = clock.call_later(timeout_ms / 1_000, self._time_is_up)
        self._waiters: list[tuple[OffsetWaiter, DeleteRecordsPartitionResult]] = []
        for each in moved:
            callback = partial(self._deleted, each.result)
            self._waiters.append((each.partition.when_deleted(each.offset, callback), each.result))

    def _deleted(self, result: DeleteRecordsPartitionResult, error: ErrorCode) -> None:
        if error:
            _refuse(
                result,
                KafkaError(error, "another node has become the leader of the partition; try again"),
            )
        self._missing -= 1
        if not self._missing and self.pending.response is None:
            self._stop()
            self.pending.resolve(self._response)

    def _time_is_up(self) -> None:
        self._stop()
        for waiter, result in self._waiters:
            if waiter.is_waiting:
                waiter.cancel()
                _refuse(
                    result,
                    KafkaError(
                        ErrorCode.REQUEST_TIMED_OUT,
                        "not all replicas have deleted the records in time",
                    ),
                )
        self.pending.resolve(self._response)

    def _stop(self) -> None:
        self._timer.cancel()


def _refuse(result: DeleteRecordsPartitionResult, error: KafkaError) -> None:
    result.error_code = error.code
    result.low_watermark = _INVALID_LOW_WATERMARK
