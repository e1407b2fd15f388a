"""The project's own client, for asyncio; each call here has an event loop of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from ottla import KafkaError
from ottla.client import ConsumedRecord, Consumer, Producer, TopicPartition
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


class OttlaClient:
    name = "ottla"
    sets_timestamps = True

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def can_send(self, message: Message) -> bool:
        return True

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
            "bootstrap.servers": self.bootstrap,
            "compression.type": codec,
            "acks": acks,
            "enable.idempotence": is_idempotent,
            "max.request.size": request_bytes_max,
            # Kafka's own default, which the tests of large requests raise with it.
            "batch.size": max(16_384, request_bytes_max if request_bytes_max > 1_000_000 else 0),
        }
        return asyncio.run(self._produce(topic, messages, configs))

    async def _produce(
        self, topic: str, messages: Sequence[Message], configs: Mapping[str, Any]
    ) -> list[Position]:
        async with Producer(configs) as producer:
            deliveries = [
                await producer.send(
                    topic,
                    message.value,
                    key=message.key,
                    headers=message.headers,
                    partition=message.partition,
                    timestamp=message.timestamp_ms,
                )
                for message in messages
            ]
            try:
                written = [await delivery for delivery in deliveries]
            except KafkaError as error:
                raise RefusedError(error.code, str(error)) from error
        return [Position(each.partition, each.offset) for each in written]

    def consume(
        self,
        starts: Mapping[tuple[str, int], int],
        count: int,
        *,
        read_committed: bool = False,
        fetch_bytes_max: int = 1_000_000,
    ) -> list[Received]:
        configs = {
            "bootstrap.servers": self.bootstrap,
            "isolation.level": "read_committed" if read_committed else "read_uncommitted",
            "max.partition.fetch.bytes": fetch_bytes_max,
        }
        received = asyncio.run(self._consume(starts, count, configs))
        assert_complete(received, count)
        return received

    async def _consume(
        self, starts: Mapping[tuple[str, int], int], count: int, configs: Mapping[str, Any]
    ) -> list[Received]:
        received: list[Received] = []
        async with Consumer(configs) as consumer:
            assign(consumer, starts)
            deadline = perf_counter() + TIMEOUT_S
            while len(received) < count and perf_counter() < deadline:
                received += [_received(record) for record in await consumer.poll(timeout=1)]
        return received

    def offset_for(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        return asyncio.run(self._offset_for(TopicPartition(topic, partition), timestamp_ms))

    async def _offset_for(self, requested: TopicPartition, timestamp_ms: int) -> int | None:
        async with Consumer(bootstrap_servers=self.bootstrap) as consumer:
            if timestamp_ms == EARLIEST:
                return (await consumer.beginning_offsets([requested]))[requested]
            if timestamp_ms == LATEST:
                return (await consumer.end_offsets([requested]))[requested]
            found = (await consumer.offsets_for_times({requested: timestamp_ms}))[requested]
            return None if found is None else found.offset

    def latencies_ms(self, topic: str, count: int) -> list[float]:
        return asyncio.run(self._latencies_ms(topic, count))

    async def _latencies_ms(self, topic: str, count: int) -> list[float]:
        latencies = []
        async with (
            Consumer(bootstrap_servers=self.bootstrap, fetch_max_wait_ms=LONG_WAIT_MS) as consumer,
            Producer(bootstrap_servers=self.bootstrap, linger_ms=0) as producer,
        ):
            assign(consumer, {(topic, 0): 0})
            for _ in range(count):
                assert not await consumer.poll(timeout=0.1)
                started = perf_counter()
                await producer.send(topic, b"x")
                assert await consumer.poll(timeout=TIMEOUT_S)
                latencies.append((perf_counter() - started) * 1_000)
        return latencies


def assign(consumer: Consumer, starts: Mapping[tuple[str, int], int]) -> None:
    consumer.assign([TopicPartition(*name) for name in starts])
    for name, offset in starts.items():
        partition = TopicPartition(*name)
        if offset == EARLIEST:
            consumer.seek_to_beginning([partition])
        elif offset == LATEST:
            consumer.seek_to_end([partition])
        else:
            consumer.seek(partition, offset)


def _received(record: ConsumedRecord) -> Received:
    return Received(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        timestamp_ms=record.timestamp,
        timestamp_type=TIMESTAMP_TYPES[record.timestamp_type],
        key=record.key,
        value=record.value,
        headers=record.headers,
    )
