"""aiokafka, for asyncio; each call here has an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

from aiokafka import (  # type: ignore[import-untyped]
    AIOKafkaConsumer,
    AIOKafkaProducer,
    TopicPartition,
)
from aiokafka.admin import AIOKafkaAdminClient  # type: ignore[import-untyped]
from aiokafka.errors import BrokerResponseError  # type: ignore[import-untyped]

from tests.conformance.clients import (
    EARLIEST,
    LATEST,
    LONG_WAIT_MS,
    TIMEOUT_S,
    Message,
    Position,
    Received,
    RefusedError,
    assert_complete,
)

TIMESTAMP_TYPES = {0: "CreateTime", 1: "LogAppendTime"}


class AiokafkaClient:
    name = "aiokafka"
    sets_timestamps = True

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def can_send(self, message: Message) -> bool:
        return message.key is not None or message.value is not None

    @asynccontextmanager
    async def producer(self, **configs: Any) -> AsyncIterator[Any]:
        async with AIOKafkaProducer(bootstrap_servers=self.bootstrap, **configs) as producer:
            yield producer

    @asynccontextmanager
    async def consumer(self, **configs: Any) -> AsyncIterator[Any]:
        async with AIOKafkaConsumer(bootstrap_servers=self.bootstrap, **configs) as consumer:
            yield consumer

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[Any]:
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    def produce(
        self,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        acks: str = "all",
        is_idempotent: bool = False,
        request_bytes_max: int = 1_000_000,
    ) -> list[Position]:
        configs = {
            "compression_type": None if codec == "none" else codec,
            "acks": acks if acks == "all" else int(acks),
            "enable_idempotence": is_idempotent,
            "max_request_size": request_bytes_max,
        }
        return asyncio.run(self._produce(topic, messages, configs))

    async def _produce(
        self, topic: str, messages: Sequence[Message], configs: Mapping[str, Any]
    ) -> list[Position]:
        async with self.producer(**configs) as producer:
            futures = [
                await producer.send(
                    topic,
                    message.value,
                    message.key,
                    headers=list(message.headers),
                    partition=message.partition,
                    timestamp_ms=message.timestamp_ms,
                )
                for message in messages
            ]
            results = await asyncio.gather(*futures, return_exceptions=True)
        return [_position(result) for result in results]

    def consume(
        self,
        starts: Mapping[tuple[str, int], int],
        count: int,
        *,
        read_committed: bool = False,
        fetch_bytes_max: int = 1_000_000,
    ) -> list[Received]:
        configs = {
            "isolation_level": "read_committed" if read_committed else "read_uncommitted",
            "max_partition_fetch_bytes": fetch_bytes_max,
        }
        received = asyncio.run(self._consume(starts, count, configs))
        assert_complete(received, count)
        return received

    async def _consume(
        self, starts: Mapping[tuple[str, int], int], count: int, configs: Mapping[str, Any]
    ) -> list[Received]:
        received: list[Received] = []
        async with self.consumer(**configs) as consumer:
            await assign(consumer, starts)
            deadline = perf_counter() + TIMEOUT_S
            while len(received) < count and perf_counter() < deadline:
                for records in (await consumer.getmany(timeout_ms=1_000)).values():
                    received += [_received(record) for record in records]
        return received

    def offset_for(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        return asyncio.run(self._offset_for(TopicPartition(topic, partition), timestamp_ms))

    async def _offset_for(self, requested: Any, timestamp_ms: int) -> int | None:
        async with self.consumer() as consumer:
            if timestamp_ms in (EARLIEST, LATEST):
                ends = (
                    await consumer.beginning_offsets([requested])
                    if timestamp_ms == EARLIEST
                    else await consumer.end_offsets([requested])
                )
                return int(ends[requested])
            at_time = (await consumer.offsets_for_times({requested: timestamp_ms}))[requested]
            return None if at_time is None else at_time.offset

    def latencies_ms(self, topic: str, count: int) -> list[float]:
        return asyncio.run(self._latencies_ms(topic, count))

    async def _latencies_ms(self, topic: str, count: int) -> list[float]:
        latencies = []
        async with (
            self.consumer(fetch_max_wait_ms=LONG_WAIT_MS) as consumer,
            self.producer() as producer,
        ):
            await assign(consumer, {(topic, 0): 0})
            for _ in range(count):
                assert not await consumer.getmany(timeout_ms=100)
                started = perf_counter()
                await producer.send(topic, b"x")
                assert await consumer.getmany(timeout_ms=TIMEOUT_S * 1_000)
                latencies.append((perf_counter() - started) * 1_000)
        return latencies


async def assign(consumer: Any, starts: Mapping[tuple[str, int], int]) -> None:
    consumer.assign([TopicPartition(*name) for name in starts])
    for name, offset in starts.items():
        partition = TopicPartition(*name)
        if offset == EARLIEST:
            await consumer.seek_to_beginning(partition)
        elif offset == LATEST:
            await consumer.seek_to_end(partition)
        else:
            consumer.seek(partition, offset)


def _position(result: Any) -> Position:
    if isinstance(result, BrokerResponseError):
        raise RefusedError(result.errno, str(result))
    if isinstance(result, BaseException):
        raise result
    if result is None:
        # Not known with acks=0.
        return Position(-1, -1)
    return Position(result.partition, result.offset)


def _received(record: Any) -> Received:
    return Received(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        timestamp_ms=record.timestamp,
        timestamp_type=TIMESTAMP_TYPES[record.timestamp_type],
        key=record.key,
        value=record.value,
        headers=tuple(record.headers),
    )
