"""The clients of callers: those of `ottla.client`, with the caller's credentials."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from typing import Any, Final

from ottla.channels import ChannelSecurity
from ottla.client.administration.admin import Admin
from ottla.client.administration.offsets import OffsetSpec
from ottla.client.cluster import ClientSeams
from ottla.client.consuming.consumer import Consumer
from ottla.client.errors import GroupIdNotFoundError
from ottla.client.producing.producer import Producer
from ottla.client.records import ConsumedRecord, OffsetAndMetadata, RecordMetadata
from ottla.configs.resource import ConfigResource, ConfigResourceType
from ottla.model import TopicPartition
from ottla.web.gateway.clients import (
    ClusterReader,
    ConsumerOptions,
    PartitionInfo,
    PartitionReplica,
)
from ottla.web.gateway.cluster_problems import CLIENT_ERRORS
from ottla.web.gateway.linear_pattern import LinearPattern
from ottla.web.gateway.messages.bodies import OutgoingMessage

_HEARTBEATS: Final = 5
_PREFETCH_BYTES: Final = 1 << 20
# A request waits no longer for room in the producer.
_BLOCK_MS: Final = 1_000
_DELIVERY_MS: Final = 30_000
_CALL_MS: Final = 10_000
# One poll; what the caller's limits leave of it is kept for its next request.
_CHUNK: Final = 500


class OttlaClientFactory:
    """`properties` are those of the gateway without security, by Kafka's names."""

    def __init__(
        self, properties: Mapping[str, Any], security: ChannelSecurity, seams: ClientSeams
    ) -> None:
        self._properties = {**properties, "security": security}
        self._seams = seams

    async def start_producer(self) -> SendingProducer:
        producer = Producer(
            {
                "linger.ms": 0,
                "batch.size": 262_144,
                **self._properties,
                "max.block.ms": _BLOCK_MS,
                "delivery.timeout.ms": _DELIVERY_MS,
                "request.timeout.ms": _CALL_MS,
            },
            seams=self._seams,
        )
        await producer.start()
        try:
            return SendingProducer(producer, await self.start_reader())
        except BaseException:
            await producer.close(timeout=0)
            raise

    async def start_consumer(self, options: ConsumerOptions) -> ReadingConsumer:
        session_ms = int(options.session_timeout_s * 1_000)
        consumer = Consumer(
            {
                **self._properties,
                "client.id": options.client_id,
                "group.id": options.group,
                "auto.offset.reset": options.auto_offset_reset,
                "isolation.level": options.isolation_level,
                "enable.auto.commit": False,
                "allow.auto.create.topics": False,
                "session.timeout.ms": session_ms,
                "heartbeat.interval.ms": session_ms // _HEARTBEATS,
                "prefetch.max.bytes": _PREFETCH_BYTES,
                "default.api.timeout.ms": _CALL_MS,
            },
            seams=self._seams,
        )
        try:
            await consumer.start()
        except BaseException:
            await consumer.close(timeout=0)
            raise
        return ReadingConsumer(consumer)

    async def start_reader(self) -> ClusterAdmin:
        admin = Admin({**self._properties, "default.api.timeout.ms": _CALL_MS}, seams=self._seams)
        try:
            await admin.describe_cluster()
        except BaseException:
            await admin.close()
            raise
        return ClusterAdmin(admin)


class SendingProducer:
    """Owns the producer and the reader."""

    def __init__(self, producer: Producer, reader: ClusterReader) -> None:
        self._producer = producer
        self._reader = reader
        self._known: set[str] = set()

    def send(
        self, topic: str, message: OutgoingMessage
    ) -> Coroutine[Any, Any, Awaitable[RecordMetadata]]:
        # The producer's own coroutine: one around it would take as long as the rest here.
        return self._producer.send(
            topic,
            message.value,
            key=message.key,
            partition=message.partition,
            headers=message.headers,
        )

    def knows(self, topic: str) -> bool:
        return topic in self._known

    async def partition_count(self, topic: str) -> int:
        if topic not in self._known:
            # A producer waits for a topic that does not exist.
            await self._reader.partitions(topic)
        count = await self._producer.partitions_for(topic)
        self._known.add(topic)
        return count

    async def close(self) -> None:
        await self._producer.close(timeout=_DELIVERY_MS / 1_000)
        await self._reader.close()


class ReadingConsumer:
    """Keeps what a poll returned beyond a caller's limits for the next one."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._kept: list[ConsumedRecord] = []
        # Of tending, for the next poll.
        self._failure: Exception | None = None
        self._is_placed = False

    async def close(self) -> None:
        await self._consumer.close(timeout=_CALL_MS / 1_000)

    async def subscribe(self, topics: Sequence[str]) -> None:
        self._is_placed = False
        await self._consumer.subscribe(
            topics, on_assigned=self._placed, on_revoked=self._forget, on_lost=self._forget
        )

    async def subscribe_pattern(self, pattern: str) -> None:
        self._is_placed = False
        await self._consumer.subscribe(
            pattern=LinearPattern(pattern),
            on_assigned=self._placed,
            on_revoked=self._forget,
            on_lost=self._forget,
        )

    async def assign(self, partitions: Sequence[TopicPartition]) -> None:
        self._forget(self._consumer.assignment() - set(partitions))
        self._consumer.assign(partitions)

    async def unsubscribe(self) -> None:
        self._kept.clear()
        await self._consumer.unsubscribe()

    def subscription(self) -> list[str]:
        return sorted(self._consumer.subscription())

    def assignment(self) -> list[TopicPartition]:
        return sorted(self._consumer.assignment())

    def is_placed(self) -> bool:
        return self._is_placed

    async def poll(
        self, *, max_records: int, max_bytes: int, wait_s: float
    ) -> Sequence[ConsumedRecord]:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        if not self._kept:
            self._kept = await self._consumer.poll(wait_s, min(max_records, _CHUNK))
        count = _fitting(self._kept, max_records, max_bytes)
        taken, self._kept = self._kept[:count], self._kept[count:]
        return taken

    async def tend(self) -> None:
        """A member joins, and gives partitions up, in calls of poll. While it has messages for the
        next request, its partitions are paused: the poll then returns no more of them."""
        paused = self._consumer.assignment() if self._kept else frozenset()
        try:
            self._consumer.pause(paused)
            found = await self._consumer.poll(0.0, _CHUNK)
            self._kept += found
        except CLIENT_ERRORS as error:
            self._failure = error
        finally:
            self._consumer.resume(paused & self._consumer.assignment())

    async def seek(self, partition: TopicPartition, offset: int) -> None:
        self._forget({partition})
        self._consumer.seek(partition, offset)

    async def seek_to_beginning(self, partitions: Sequence[TopicPartition]) -> None:
        self._forget(frozenset(partitions))
        self._consumer.seek_to_beginning(partitions)

    async def seek_to_end(self, partitions: Sequence[TopicPartition]) -> None:
        self._forget(frozenset(partitions))
        self._consumer.seek_to_end(partitions)

    async def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        await self._consumer.commit(offsets)

    async def committed(
        self, partitions: Sequence[TopicPartition]
    ) -> Mapping[TopicPartition, OffsetAndMetadata | None]:
        return await self._consumer.committed(partitions)

    def _placed(self, _partitions: frozenset[TopicPartition]) -> None:
        self._is_placed = True

    def _forget(self, partitions: frozenset[TopicPartition] | set[TopicPartition]) -> None:
        self._kept = [
            each
            for each in self._kept
            if TopicPartition(each.topic, each.partition) not in partitions
        ]


class ClusterAdmin:
    """Reads about topics and groups."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def topics(self) -> list[str]:
        return list(await self._admin.list_topics())

    async def partitions(self, topic: str) -> list[PartitionInfo]:
        description = await self._admin.describe_topic(topic)
        return [
            PartitionInfo(
                each.partition,
                -1 if each.leader is None else each.leader,
                tuple(
                    PartitionReplica(broker, broker == each.leader, broker in each.in_sync)
                    for broker in each.replicas
                ),
            )
            for each in description.partitions
        ]

    async def configs(self, topic: str) -> dict[str, str]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        found = (await self._admin.describe_configs([resource]))[resource]
        return {name: each.value for name, each in found.items() if each.value is not None}

    async def offsets(self, partition: TopicPartition) -> tuple[int, int]:
        return await self._offset(partition, OffsetSpec.EARLIEST), await self._offset(
            partition, OffsetSpec.LATEST
        )

    async def _offset(self, partition: TopicPartition, spec: OffsetSpec) -> int:
        found = (await self._admin.list_offsets({partition: spec}))[partition]
        assert found is not None, spec
        return found.offset

    async def brokers(self) -> list[int]:
        return [each.id for each in (await self._admin.describe_cluster()).brokers]

    async def member_client_ids(self, group: str) -> list[str]:
        try:
            description = await self._admin.describe_group(group)
        except GroupIdNotFoundError:
            return []
        return [member.client_id for member in description.members]

    async def close(self) -> None:
        await self._admin.close()


def _fitting(records: Sequence[ConsumedRecord], count_max: int, bytes_max: int) -> int:
    """How many records are within the limits; at least one."""
    size = 0
    for index, record in enumerate(records[:count_max]):
        size += len(record.key or b"") + len(record.value or b"")
        if size > bytes_max and index:
            return index
    return min(len(records), count_max)
