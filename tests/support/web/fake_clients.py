"""Clients of a gateway that keep everything in memory."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence

from ottla.client.errors import UnknownTopicOrPartitionError
from ottla.client.records import ConsumedRecord, OffsetAndMetadata, RecordMetadata
from ottla.model import ErrorCode, TopicPartition
from ottla.runtime.system_clock import SystemClock
from ottla.web.gateway.clients import ConsumerOptions, PartitionInfo
from ottla.web.gateway.messages.bodies import OutgoingMessage
from ottla.wire.records.header import TimestampType


class FakeCluster:
    """Topics of one partition. While `is_slow`, nothing is acknowledged."""

    def __init__(self, *topics: str) -> None:
        self.logs: dict[str, list[OutgoingMessage]] = {topic: [] for topic in topics}
        self.committed: dict[str, dict[TopicPartition, OffsetAndMetadata]] = defaultdict(dict)
        self.client_ids: dict[str, list[str]] = defaultdict(list)
        self.acknowledge = asyncio.Event()
        self.acknowledge.set()
        self.closed = 0
        # How long consumers start, and clients are closed.
        self.start_seconds = 0.0
        self.close_seconds = 0.0

    def records(self, topic: str, start: int) -> list[ConsumedRecord]:
        return [
            ConsumedRecord(
                topic,
                0,
                offset,
                1_000,
                TimestampType.CREATE_TIME,
                message.key,
                message.value,
                message.headers,
            )
            for offset, message in enumerate(self.logs[topic])
            if offset >= start
        ]


class FakeFactory:
    def __init__(self, cluster: FakeCluster) -> None:
        self.cluster = cluster

    async def start_producer(self) -> FakeProducer:
        return FakeProducer(self.cluster)

    async def start_consumer(self, options: ConsumerOptions) -> FakeConsumer:
        await SystemClock().sleep(self.cluster.start_seconds)
        self.cluster.client_ids[options.group].append(options.client_id)
        return FakeConsumer(self.cluster, options)

    async def start_reader(self) -> FakeReader:
        return FakeReader(self.cluster)


class FakeProducer:
    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    async def send(self, topic: str, message: OutgoingMessage) -> Awaitable[RecordMetadata]:
        log = self._cluster.logs[topic]
        log.append(message)
        return self._acknowledged(RecordMetadata(topic, 0, len(log) - 1, 1_000))

    async def _acknowledged(self, found: RecordMetadata) -> RecordMetadata:
        await self._cluster.acknowledge.wait()
        return found

    def knows(self, topic: str) -> bool:
        return topic in self._cluster.logs

    async def partition_count(self, topic: str) -> int:
        if topic not in self._cluster.logs:
            raise UnknownTopicOrPartitionError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no topic")
        return 1

    async def close(self) -> None:
        self._cluster.closed += 1


class FakeConsumer:
    def __init__(self, cluster: FakeCluster, options: ConsumerOptions) -> None:
        self._cluster = cluster
        self._options = options
        self._positions: dict[TopicPartition, int] = {}
        self.is_closed = False

    async def close(self) -> None:
        await SystemClock().sleep(self._cluster.close_seconds)
        self.is_closed = True
        self._cluster.client_ids[self._options.group].remove(self._options.client_id)

    async def subscribe(self, topics: Sequence[str]) -> None:
        committed = self._cluster.committed[self._options.group]
        partitions = [TopicPartition(topic, 0) for topic in topics]
        self._positions = {
            each: committed[each].offset if each in committed else 0 for each in partitions
        }

    async def subscribe_pattern(self, pattern: str) -> None:
        await self.subscribe([name for name in self._cluster.logs if name.startswith(pattern)])

    async def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self._positions = dict.fromkeys(partitions, 0)

    async def unsubscribe(self) -> None:
        self._positions.clear()

    def subscription(self) -> list[str]:
        return [each.topic for each in self._positions]

    def assignment(self) -> list[TopicPartition]:
        return list(self._positions)

    def is_placed(self) -> bool:
        return True

    async def poll(
        self, *, max_records: int, max_bytes: int, wait_s: float
    ) -> Sequence[ConsumedRecord]:
        await SystemClock().sleep(0)
        for partition, position in self._positions.items():
            found = self._cluster.records(partition.topic, position)[:max_records]
            if found:
                self._positions[partition] += len(found)
                return found
        await SystemClock().sleep(min(wait_s, 0.01))
        return []

    async def tend(self) -> None:
        pass

    async def seek(self, partition: TopicPartition, offset: int) -> None:
        self._positions[partition] = offset

    async def seek_to_beginning(self, partitions: Sequence[TopicPartition]) -> None:
        self._positions.update(dict.fromkeys(partitions, 0))

    async def seek_to_end(self, partitions: Sequence[TopicPartition]) -> None:
        for each in partitions:
            self._positions[each] = len(self._cluster.logs[each.topic])

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self._cluster.committed[self._options.group].update(offsets)

    async def committed(
        self, partitions: Sequence[TopicPartition]
    ) -> Mapping[TopicPartition, OffsetAndMetadata | None]:
        known = self._cluster.committed[self._options.group]
        return {each: known.get(each) for each in partitions}


class FakeReader:
    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    async def topics(self) -> list[str]:
        return list(self._cluster.logs)

    async def partitions(self, topic: str) -> list[PartitionInfo]:
        return [PartitionInfo(0, 1, ())]

    async def configs(self, topic: str) -> dict[str, str]:
        return {}

    async def offsets(self, partition: TopicPartition) -> tuple[int, int]:
        return 0, len(self._cluster.logs[partition.topic])

    async def brokers(self) -> list[int]:
        return [1]

    async def member_client_ids(self, group: str) -> list[str]:
        return self._cluster.client_ids[group]

    async def close(self) -> None:
        await SystemClock().sleep(self._cluster.close_seconds)
        self._cluster.closed += 1
