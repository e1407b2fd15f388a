"""kafka-python, which has a protocol implementation of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any
from warnings import catch_warnings, simplefilter

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

with catch_warnings():
    # It reads its message definitions in a way that Python 3.11 frowns upon.
    simplefilter("ignore", DeprecationWarning)
    from kafka import (  # type: ignore[import-untyped]
        KafkaAdminClient,
        KafkaConsumer,
        KafkaProducer,
        OffsetAndMetadata,
        TopicPartition,
        errors,
    )
    from kafka.admin import (  # type: ignore[import-untyped]
        AlterConfigOp,
        ConfigResource,
        OffsetSpec,
    )

__all__ = [
    "AlterConfigOp",
    "ConfigResource",
    "KafkaConsumer",
    "KafkaProducer",
    "KafkaPythonClient",
    "OffsetAndMetadata",
    "OffsetSpec",
    "TopicPartition",
    "assign",
    "errors",
]

TIMESTAMP_TYPES = {0: "CreateTime", 1: "LogAppendTime"}


class KafkaPythonClient:
    name = "kafka-python"
    sets_timestamps = True

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def can_send(self, message: Message) -> bool:
        has_null_header = any(value is None for _, value in message.headers)
        return not has_null_header and (message.key is not None or message.value is not None)

    @contextmanager
    def producer(self, **configs: Any) -> Iterator[Any]:
        producer = KafkaProducer(bootstrap_servers=self.bootstrap, **configs)
        try:
            yield producer
        finally:
            producer.close()

    @contextmanager
    def consumer(self, **configs: Any) -> Iterator[Any]:
        consumer = KafkaConsumer(bootstrap_servers=self.bootstrap, **configs)
        try:
            yield consumer
        finally:
            consumer.close()

    @contextmanager
    def admin(self, **configs: Any) -> Iterator[Any]:
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap, **configs)
        try:
            yield admin
        finally:
            admin.close()

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
        with self.producer(
            compression_type=None if codec == "none" else codec,
            acks=acks if acks == "all" else int(acks),
            enable_idempotence=is_idempotent,
            max_request_size=request_bytes_max,
        ) as producer:
            futures = [
                producer.send(
                    topic,
                    message.value,
                    message.key,
                    headers=list(message.headers),
                    partition=message.partition,
                    timestamp_ms=message.timestamp_ms,
                )
                for message in messages
            ]
            return [_position(future) for future in futures]

    def consume(
        self,
        starts: Mapping[tuple[str, int], int],
        count: int,
        *,
        read_committed: bool = False,
        fetch_bytes_max: int = 1_000_000,
    ) -> list[Received]:
        received: list[Received] = []
        with self.consumer(
            isolation_level="read_committed" if read_committed else "read_uncommitted",
            max_partition_fetch_bytes=fetch_bytes_max,
        ) as consumer:
            assign(consumer, starts)
            deadline = perf_counter() + TIMEOUT_S
            while len(received) < count and perf_counter() < deadline:
                for records in consumer.poll(1_000).values():
                    received += [_received(record) for record in records]
        assert_complete(received, count)
        return received

    def offset_for(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        requested = TopicPartition(topic, partition)
        with self.consumer() as consumer:
            if timestamp_ms in (EARLIEST, LATEST):
                ends = (
                    consumer.beginning_offsets([requested])
                    if timestamp_ms == EARLIEST
                    else consumer.end_offsets([requested])
                )
                return int(ends[requested])
            at_time = consumer.offsets_for_times({requested: timestamp_ms})[requested]
            return None if at_time is None else at_time.offset

    def latencies_ms(self, topic: str, count: int) -> list[float]:
        latencies = []
        with (
            self.consumer(fetch_max_wait_ms=LONG_WAIT_MS) as consumer,
            self.producer() as producer,
        ):
            assign(consumer, {(topic, 0): 0})
            for _ in range(count):
                assert not consumer.poll(100)
                started = perf_counter()
                producer.send(topic, b"x")
                assert consumer.poll(TIMEOUT_S * 1_000)
                latencies.append((perf_counter() - started) * 1_000)
        return latencies


def assign(consumer: Any, starts: Mapping[tuple[str, int], int]) -> None:
    consumer.assign([TopicPartition(*name) for name in starts])
    for name, offset in starts.items():
        partition = TopicPartition(*name)
        if offset == EARLIEST:
            consumer.seek_to_beginning(partition)
        elif offset == LATEST:
            consumer.seek_to_end(partition)
        else:
            consumer.seek(partition, offset)


def _position(future: Any) -> Position:
    try:
        metadata = future.get(TIMEOUT_S)
    except errors.BrokerResponseError as error:
        raise RefusedError(error.errno, str(error)) from error
    return Position(metadata.partition, metadata.offset)


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
