"""DescribeLogDirs, versions 1 to 5: the log directories, and how large the logs in them are.

No list of topics asks for all of them. Version 4 tells how much room there is, 5 which directories
get no new logs (KIP-1066). A directory that has failed has KAFKA_STORAGE_ERROR and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from ottla.broker.broker import Broker
from ottla.broker.handling import RequestContext, handles
from ottla.broker.log_placement import is_cordoned
from ottla.model import ErrorCode, TopicPartition
from ottla.storage.log import Log
from ottla.storage.log_directory import LogDirectory
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


@handles(ApiKey.DESCRIBE_LOG_DIRS)
def describe_log_dirs(
    broker: Broker,
    context: RequestContext,  # noqa: ARG001 - every handler's signature
    request: DescribeLogDirsRequest,
) -> DescribeLogDirsResponse:
    asked = None
    if request.topics is not None:
        asked = {
            TopicPartition(topic.topic, index)
            for topic in request.topics
            for index in topic.partitions
        }
    failed = [_failed(path) for path in broker.logs.failed]
    working = [_describe(broker, directory, asked) for directory in broker.logs.directories]
    return DescribeLogDirsResponse(results=working + failed)


def _describe(
    broker: Broker, directory: LogDirectory, asked: set[TopicPartition] | None
) -> DescribeLogDirsResult:
    shown = directory.logs.keys() if asked is None else directory.logs.keys() & asked
    topics = _topics(directory.logs[partition] for partition in sorted(shown))
    try:
        return DescribeLogDirsResult(
            log_dir=directory.path,
            topics=topics,
            total_bytes=directory.total_bytes,
            usable_bytes=directory.usable_bytes,
            is_cordoned=is_cordoned(directory, broker.config),
        )
    except OSError as error:
        broker.directory_failed(directory.path, error)
        return _failed(directory.path)


def _topics(logs: Iterable[Log]) -> list[DescribeLogDirsTopic]:
    return [
        DescribeLogDirsTopic(
            name=topic,
            partitions=[
                DescribeLogDirsPartition(
                    partition_index=log.partition.partition,
                    partition_size=sum(segment.size for segment in log.segments),
                    offset_lag=max(log.high_watermark - log.log_end_offset, 0),
                )
                for log in of_topic
            ],
        )
        for topic, of_topic in groupby(logs, key=lambda log: log.partition.topic)
    ]


def _failed(path: str) -> DescribeLogDirsResult:
    return DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path)
