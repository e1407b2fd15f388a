"""DeleteRecords, versions 0 to 2: moves the start of partitions up to an offset (KIP-107).

Offset -1 stands for the high watermark. The answer comes when a crash cannot bring the records
back. Errors per partition: UNKNOWN_TOPIC_OR_PARTITION, OFFSET_OUT_OF_RANGE, KAFKA_STORAGE_ERROR,
POLICY_VIOLATION where a topic is only compacted, INVALID_TOPIC_EXCEPTION for an internal topic.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.broker.topic_names import is_internal_topic
from ottla.model import ErrorCode, KafkaError
from ottla.replication.partition import Partition
from ottla.storage.log import Log
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


@handles(ApiKey.DELETE_RECORDS)
def delete_records(
    broker: Broker,
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: DeleteRecordsRequest,
) -> DeleteRecordsResponse:
    moved: list[tuple[Log, DeleteRecordsPartitionResult]] = []
    topics = [
        DeleteRecordsTopicResult(name=topic.name, partitions=_delete(broker, topic, moved))
        for topic in request.topics
    ]
    _make_durable(broker, moved)
    return DeleteRecordsResponse(topics=topics)


def _delete(
    broker: Broker, topic: DeleteRecordsTopic, moved: list[tuple[Log, DeleteRecordsPartitionResult]]
) -> list[DeleteRecordsPartitionResult]:
    results = []
    for asked in topic.partitions:
        result = DeleteRecordsPartitionResult(partition_index=asked.partition_index)
        try:
            partition = broker.partitions.by_name(topic.name, asked.partition_index)
            log = _delete_before(partition, asked.offset)
        except KafkaError as error:
            _refuse(result, error)
        else:
            result.low_watermark = log.log_start_offset
            moved.append((log, result))
        results.append(result)
    return results


def _delete_before(partition: Partition, offset: int) -> Log:
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
            f"{partition.name} is compacted; records are deleted where cleanup.policy has delete",
        )
    if offset == _HIGH_WATERMARK:
        offset = log.high_watermark
    if offset < 0:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} is no offset")
    log.delete_records_before(offset)
    return log


def _make_durable(broker: Broker, moved: list[tuple[Log, DeleteRecordsPartitionResult]]) -> None:
    """Writes down where the logs start now, once for each of their directories."""
    paths = {log.directory.rpartition("/")[0] for log, _ in moved}
    for directory in broker.logs.directories:
        if directory.path not in paths:
            continue
        try:
            directory.write_checkpoints()
        except OSError as error:
            told = broker.directory_failed(directory.path, error)
            for log, result in moved:
                if log.directory.startswith(f"{directory.path}/"):
                    _refuse(result, told)


def _refuse(result: DeleteRecordsPartitionResult, error: KafkaError) -> None:
    result.error_code = error.code
    result.low_watermark = _INVALID_LOW_WATERMARK
