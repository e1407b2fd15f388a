"""confluent-kafka, which is librdkafka."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaError,
    Producer,
    TopicPartition,
)
from confluent_kafka import Message as ConfluentMessage

from tests.conformance.clients import (
    EARLIEST,
    LATEST,
    LONG_WAIT_MS,
    TIMEOUT_S,
    Headers,
    Message,
    Position,
    Received,
    RefusedError,
    assert_complete,
)

TIMESTAMP_TYPES = {
    TIMESTAMP_CREATE_TIME: "CreateTime",
    TIMESTAMP_LOG_APPEND_TIME: "LogAppendTime",
}


class Delivery:
    """What became of a message; librdkafka calls it when it knows."""

    def __call__(self, error: KafkaError | None, message: ConfluentMessage) -> None:
        self._error = error
        self._message = message

    def position(self) -> Position:
        if self._error is not None:
            raise RefusedError(self._error.code(), self._error.str())
        partition, offset = self._message.partition(), self._message.offset()
        assert partition is not None
        # With acks=0 there is none.
        return Position(partition, -1 if offset is None else offset)


class ConfluentClient:
    name = "confluent"
    sets_timestamps = True

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def can_send(self, message: Message) -> bool:
        return True

    def producer(self, **configs: Any) -> Producer:
        return Producer({"bootstrap.servers": self.bootstrap, "log_level": 0, **_dotted(configs)})

    def consumer(self, **configs: Any) -> Consumer:
        """A consumer to assign partitions to; librdkafka wants a group's name all the same."""
        always = {
            "group.id": "unused",
            "enable.auto.commit": False,
            "log_level": 0,
            # Partitions that come later wait for the fetch that is under way.
            "fetch.wait.max.ms": 50,
        }
        return Consumer({"bootstrap.servers": self.bootstrap, **always, **_dotted(configs)})

    def produce(
        self,
        topic: str,
        messages: Sequence[Message],
        *,
        codec: str = "none",
        acks: str = "all",
        is_idempotent: bool = False,
        request_bytes_max: int = 1_000_000,
        **configs: Any,
    ) -> list[Position]:
        producer = self.producer(
            compression_codec=codec,
            acks=acks,
            enable_idempotence=is_idempotent,
            message_max_bytes=request_bytes_max,
            **configs,
        )
        deliveries = [Delivery() for _ in messages]
        for message, delivery in zip(messages, deliveries, strict=True):
            producer.produce(
                topic, message.value, message.key, on_delivery=delivery, **_options(message)
            )
        left = producer.flush(TIMEOUT_S)
        assert not left, f"{left} of {len(messages)} records were not delivered"
        return [delivery.position() for delivery in deliveries]

    def consume(
        self,
        starts: Mapping[tuple[str, int], int],
        count: int,
        *,
        read_committed: bool = False,
        fetch_bytes_max: int = 1_000_000,
        **configs: Any,
    ) -> list[Received]:
        consumer = self.consumer(
            isolation_level="read_committed" if read_committed else "read_uncommitted",
            max_partition_fetch_bytes=fetch_bytes_max,
            **configs,
        )
        # It asks for the offsets of partitions that it does not know half a second later.
        consumer.list_topics(timeout=TIMEOUT_S)
        consumer.assign([TopicPartition(*name, offset) for name, offset in starts.items()])
        received = [_received(message) for message in consumer.consume(count, TIMEOUT_S)]
        consumer.close()
        assert_complete(received, count)
        return received

    def offset_for(self, topic: str, partition: int, timestamp_ms: int) -> int | None:
        consumer = self.consumer()
        requested = TopicPartition(topic, partition, timestamp_ms)
        if timestamp_ms in (EARLIEST, LATEST):
            found = consumer.get_watermark_offsets(requested, TIMEOUT_S)[timestamp_ms == LATEST]
        else:
            found = consumer.offsets_for_times([requested], TIMEOUT_S)[0].offset
        consumer.close()
        return None if found == LATEST else found

    def latencies_ms(self, topic: str, count: int) -> list[float]:
        consumer, producer = self.consumer(fetch_wait_max_ms=LONG_WAIT_MS), self.producer()
        consumer.assign([TopicPartition(topic, 0, EARLIEST)])
        latencies = []
        for _ in range(count):
            assert consumer.poll(0.1) is None
            started = perf_counter()
            producer.produce(topic, b"x")
            producer.poll(0)
            assert consumer.poll(TIMEOUT_S) is not None
            latencies.append((perf_counter() - started) * 1_000)
        producer.flush()
        consumer.close()
        return latencies


def _dotted(configs: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in configs.items()}


def _options(message: Message) -> dict[str, Any]:
    options: dict[str, Any] = {"headers": list(message.headers)}
    if message.partition is not None:
        options["partition"] = message.partition
    if message.timestamp_ms is not None:
        options["timestamp"] = message.timestamp_ms
    return options


def _received(message: ConfluentMessage) -> Received:
    assert message.error() is None, message.error()
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    kind, timestamp_ms = message.timestamp()
    return Received(
        topic=topic,
        partition=partition,
        offset=offset,
        timestamp_ms=timestamp_ms,
        timestamp_type=TIMESTAMP_TYPES[kind],
        key=message.key(),
        value=message.value(),
        headers=_headers(message),
    )


def _headers(message: ConfluentMessage) -> Headers:
    headers = message.headers() or []
    assert isinstance(headers, list)
    return tuple((name, value) for name, value in headers if not isinstance(value, str))
