"""Log directories of brokers, and the replicas in them (KIP-113)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ottla.client.administration.requests import AdminRequests, by_topic, outcome, require
from ottla.client.administration.results import Results
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResult,
)


@dataclass(frozen=True, slots=True)
class LogDirReplica:
    """A replica in a log directory. `lag` is what it lacks: a future replica of the current one, a
    current one of what the leader has committed. A future one is on its way to this directory and
    replaces the current one when it has caught up."""

    topic: str
    partition: int
    size_in_bytes: int
    lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDir:
    """`error` is Kafka's name for why it cannot be used. The sizes of its volume are None if the
    broker is too old to say them. A cordoned one gets no new partitions (KIP-1066)."""

    broker: int
    path: str
    error: str | None
    total_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool
    replicas: tuple[LogDirReplica, ...]

    @property
    def size_in_bytes(self) -> int:
        return sum(replica.size_in_bytes for replica in self.replicas)


class LogDirOperations(AdminRequests):
    """The methods of `Admin` for log directories."""

    async def describe_log_dirs(
        self,
        brokers: Iterable[int] | None = None,
        *,
        partitions: Iterable[TopicPartition] | None = None,
        timeout: float | None = None,
    ) -> Results[int, tuple[LogDir, ...]]:
        """The log directories of these brokers or of all, with their replicas of these partitions
        or of all."""
        topics = None
        if partitions is not None:
            topics = [
                DescribableLogDirTopic(topic=topic, partitions=indexes)
                for topic, indexes in by_topic(partitions).items()
            ]

        async def exchange(broker: int) -> tuple[LogDir, ...]:
            answer = await self._ask_node(broker, DescribeLogDirsRequest(topics=topics))
            require(answer.error_code)
            return tuple(
                _log_dir(broker, each)
                for each in sorted(answer.results, key=lambda each: each.log_dir)
            )

        return await self._each_broker("describe log directories", brokers, exchange, timeout)

    async def alter_replica_log_dirs(
        self, broker: int, places: Mapping[TopicPartition, str], *, timeout: float | None = None
    ) -> Results[TopicPartition, None]:
        """Starts moving replicas of this broker to other log directories of it."""
        by_path: dict[str, list[TopicPartition]] = {}
        for name, path in places.items():
            by_path.setdefault(path, []).append(name)
        request = AlterReplicaLogDirsRequest(
            dirs=[
                AlterReplicaLogDir(
                    path=path,
                    topics=[
                        AlterReplicaLogDirTopic(name=topic, partitions=indexes)
                        for topic, indexes in by_topic(names).items()
                    ],
                )
                for path, names in by_path.items()
            ]
        )
        answer = await self._retrying(
            f"move replicas of broker {broker}",
            lambda: self._ask_node(broker, request),
            timeout,
        )
        return Results(
            {
                TopicPartition(topic.topic_name, each.partition_index): outcome(
                    None, each.error_code
                )
                for topic in answer.results
                for each in topic.partitions
            }
        )


def _log_dir(broker: int, result: DescribeLogDirsResult) -> LogDir:
    return LogDir(
        broker,
        result.log_dir,
        ErrorCode(result.error_code).name if result.error_code else None,
        total_bytes=None if result.total_bytes < 0 else result.total_bytes,
        usable_bytes=None if result.usable_bytes < 0 else result.usable_bytes,
        is_cordoned=result.is_cordoned,
        replicas=tuple(
            LogDirReplica(
                topic.name,
                partition.partition_index,
                partition.partition_size,
                partition.offset_lag,
                is_future=partition.is_future_key,
            )
            for topic in sorted(result.topics, key=lambda each: each.name)
            for partition in sorted(topic.partitions, key=lambda each: each.partition_index)
        ),
    )
