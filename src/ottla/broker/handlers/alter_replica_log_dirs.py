"""AlterReplicaLogDirs, versions 1 to 2: moves replicas from one log directory to another (KIP-113).

The response is sent when the moves have started; DescribeLogDirs shows their progress. If a log
already is in the requested directory, a move in progress is cancelled. Errors per partition:
CLUSTER_AUTHORIZATION_FAILED, LOG_DIR_NOT_FOUND for a path that is not in `log.dirs`,
KAFKA_STORAGE_ERROR for a failed directory, UNKNOWN_TOPIC_OR_PARTITION, and REPLICA_NOT_AVAILABLE
for a replica that is not on this node: if it is created later, it is created in that directory.
"""

from __future__ import annotations

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.log_moves import LogMoves
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import ErrorCode, KafkaError, TopicPartition
from ottla.replication.partitions import Partitions
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.storage.directories.log_store import LogStore
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


@handles(ApiKey.ALTER_REPLICA_LOG_DIRS, rights=(Right(AclOperation.ALTER, ResourceType.CLUSTER),))
def alter_replica_log_dirs(
    context: RequestContext,
    request: AlterReplicaLogDirsRequest,
    *,
    cluster: ClusterView,
    logs: LogStore,
    partitions: Partitions,
    log_moves: LogMoves,
    failures: StorageFailures,
) -> AlterReplicaLogDirsResponse:
    may_alter = context.rights.allows(AclOperation.ALTER, ResourceType.CLUSTER, CLUSTER_NAME)
    results: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
                if may_alter:
                    error = _move(
                        cluster,
                        logs,
                        partitions,
                        log_moves,
                        failures,
                        topic.name,
                        index,
                        path=directory.path,
                    )
                results.setdefault(topic.name, []).append(
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                )
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(topic_name=topic, partitions=partitions)
            for topic, partitions in results.items()
        ]
    )


def _move(
    cluster: ClusterView,
    logs: LogStore,
    partitions: Partitions,
    log_moves: LogMoves,
    failures: StorageFailures,
    topic: str,
    index: int,
    *,
    path: str,
) -> ErrorCode:
    if path in logs.failed:
        return ErrorCode.KAFKA_STORAGE_ERROR
    directory = next((each for each in logs.directories if each.path == path), None)
    if directory is None:
        return ErrorCode.LOG_DIR_NOT_FOUND
    name = TopicPartition(topic, index)
    partition = partitions.get(name)
    if partition is None:
        if topic not in cluster.image.topics.by_name:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        log_moves.requested_paths[name] = path
        return ErrorCode.REPLICA_NOT_AVAILABLE
    try:
        log_moves.move(partition, directory)
    except KafkaError as error:
        return error.code
    except OSError as error:
        return failures.directory_failed(path, error).code
    return ErrorCode.NONE
