"""DescribeLogDirs, versions 1 to 5: the log directories, and the sizes of the logs in them.

Without a list of topics, all are described. Version 4 adds total and usable bytes, version 5 shows
which directories are cordoned and get no new logs (KIP-1066). Logs of deleted topics that can be
restored are shown as partitions of `orders~<topic id>`, if all topics are described. A failed
directory has only the error KAFKA_STORAGE_ERROR. For the request CLUSTER_AUTHORIZATION_FAILED, for
which versions 1 and 2 have no field: their response is empty.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.log_placement import is_cordoned
from ottla.broker.replicas.storage_failures import StorageFailures
from ottla.model import ErrorCode, TopicPartition
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.directories.log_store import LogStore
from ottla.storage.log.log import Log
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


class _Shown(NamedTuple):
    """A log in a directory. For a future log, `copied` is the log that it is copied from."""

    name: TopicPartition
    log: Log
    copied: Log | None

    @property
    def offset_lag(self) -> int:
        end_offset = self.log.high_watermark if self.copied is None else self.copied.log_end_offset
        return max(end_offset - self.log.log_end_offset, 0)


@handles(ApiKey.DESCRIBE_LOG_DIRS, rights=(Right(AclOperation.DESCRIBE, ResourceType.CLUSTER),))
def describe_log_dirs(
    context: RequestContext,
    request: DescribeLogDirsRequest,
    *,
    cluster: ClusterView,
    logs: LogStore,
    failures: StorageFailures,
) -> DescribeLogDirsResponse:
    if not context.rights.allows(AclOperation.DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME):
        return DescribeLogDirsResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    requested = None
    if request.topics is not None:
        requested = {
            TopicPartition(topic.topic, index)
            for topic in request.topics
            for index in topic.partitions
        }
    failed = [_failed(path) for path in logs.failed]
    working = [
        _describe(cluster, logs, failures, directory, requested) for directory in logs.directories
    ]
    return DescribeLogDirsResponse(results=working + failed)


def _describe(
    cluster: ClusterView,
    logs: LogStore,
    failures: StorageFailures,
    directory: LogDirectory,
    requested: set[TopicPartition] | None,
) -> DescribeLogDirsResult:
    shown_logs = [
        _Shown(name, log, None)
        for name, log in directory.logs.items()
        if requested is None or name in requested
    ]
    for name in directory.futures:
        future, current = directory.futures.get(name), logs.get(name)
        if future is not None and (requested is None or name in requested):
            shown_logs.append(_Shown(name, future, current))
    topics = _topics(sorted(shown_logs, key=lambda shown: shown.name))
    if requested is None:
        topics += _deleted_topics(cluster, directory)
    try:
        return DescribeLogDirsResult(
            log_dir=directory.path,
            topics=topics,
            total_bytes=directory.total_bytes,
            usable_bytes=directory.usable_bytes,
            is_cordoned=is_cordoned(directory, cluster.config),
        )
    except OSError as error:
        failures.directory_failed(directory.path, error)
        return _failed(directory.path)


def _topics(logs: Iterable[_Shown]) -> list[DescribeLogDirsTopic]:
    return [
        DescribeLogDirsTopic(
            name=topic,
            partitions=[
                DescribeLogDirsPartition(
                    partition_index=shown.name.partition,
                    partition_size=sum(segment.size for segment in shown.log.segments),
                    offset_lag=shown.offset_lag,
                    is_future_key=shown.copied is not None,
                )
                for shown in of_topic
            ],
        )
        for topic, of_topic in groupby(logs, key=lambda shown: shown.name.topic)
    ]


def _deleted_topics(cluster: ClusterView, directory: LogDirectory) -> list[DescribeLogDirsTopic]:
    by_id = cluster.image.deleted_topics.by_id
    partitions: dict[str, list[DescribeLogDirsPartition]] = {}
    for each in sorted(directory.deleted, key=lambda each: each.replica):
        topic = by_id.get(each.replica.topic_id)
        if topic is not None:
            partitions.setdefault(topic.resource_name, []).append(
                DescribeLogDirsPartition(
                    partition_index=each.replica.partition, partition_size=each.size
                )
            )
    return [DescribeLogDirsTopic(name=name, partitions=found) for name, found in partitions.items()]


def _failed(path: str) -> DescribeLogDirsResult:
    return DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path)
