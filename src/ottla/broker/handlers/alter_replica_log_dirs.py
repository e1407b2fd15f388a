"""AlterReplicaLogDirs, versions 1 to 2: moves replicas from one log directory to another (KIP-113).

A log that is where it is wanted stays there. Others are not moved yet and get
OPERATION_NOT_ATTEMPTED. Errors besides: LOG_DIR_NOT_FOUND for a path that is not in `log.dirs`,
KAFKA_STORAGE_ERROR for a directory that failed, UNKNOWN_TOPIC_OR_PARTITION.
"""

from __future__ import annotations

import logging

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.model import ErrorCode, KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

_log = logging.getLogger(__name__)


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS)
def alter_replica_log_dirs(
    broker: Broker,
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: AlterReplicaLogDirsRequest,
) -> AlterReplicaLogDirsResponse:
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for wanted in request.dirs:
        for topic in wanted.topics:
            results.setdefault(topic.name, []).extend(
                AlterReplicaLogDirPartitionResult(
                    partition_index=index,
                    error_code=_move(broker, topic.name, index, path=wanted.path),
                )
                for index in topic.partitions
            )
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(topic_name=topic, partitions=partitions)
            for topic, partitions in results.items()
        ]
    )


def _move(broker: Broker, topic: str, index: int, *, path: str) -> ErrorCode:
    if path in broker.logs.failed:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if all(directory.path != path for directory in broker.logs.directories):
        return ErrorCode.LOG_DIR_NOT_FOUND
    try:
        log = broker.partitions.by_name(topic, index).require_log()
    except KafkaError as error:
        return error.code
    if log.directory == f"{path}/{log.partition}":
        return ErrorCode.NONE
    _log.warning("%s stays in %s: logs cannot be moved to %s yet", topic, log.directory, path)
    return ErrorCode.OPERATION_NOT_ATTEMPTED
