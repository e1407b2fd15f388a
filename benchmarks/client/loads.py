"""One load of one Python client, in a process of its own on one core.

python -m benchmarks.client.loads CLIENT LOAD BROKER TOPIC COUNT SIZE

Prints how many records per second, or the 99th percentile in milliseconds, as a line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from struct import Struct
from typing import Any, Final

import uvloop

_DUE: Final = Struct("<q")
_RATE: Final = 1_000
_LINGER_MS: Final = 5
_WARM: Final = 1_000

Load = Callable[[str, str, int, int], Coroutine[Any, Any, float]]


async def ottla_produce(broker: str, topic: str, count: int, size: int) -> float:
    from ottla.client import Producer

    async with Producer(bootstrap_servers=broker, linger_ms=_LINGER_MS) as producer:
        send, value = producer.send, bytes(size)
        await producer.send_and_wait(topic, value)
        started = time.perf_counter()
        for _ in range(count):
            await send(topic, value)
        await producer.flush()
        return count / (time.perf_counter() - started)


async def ottla_columns(broker: str, topic: str, count: int, size: int) -> float:
    import pyarrow as pa

    from ottla.client import Producer

    table = pa.table({"value": pa.array([bytes(size)] * count, pa.binary())})
    async with Producer(bootstrap_servers=broker, linger_ms=_LINGER_MS) as producer:
        await (await producer.send_columns(topic, table.slice(0, _WARM)))
        started = time.perf_counter()
        await (await producer.send_columns(topic, table))
        return count / (time.perf_counter() - started)


async def ottla_latency(broker: str, topic: str, count: int, size: int) -> float:
    from ottla.client import Consumer, Producer, TopicPartition

    latencies: list[int] = []
    async with (
        Producer(bootstrap_servers=broker, linger_ms=0) as producer,
        Consumer(bootstrap_servers=broker) as consumer,
    ):
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_end([partition])
        await consumer.position(partition)

        async def receive() -> None:
            while len(latencies) < count + _WARM:
                for record in await consumer.poll(1.0):
                    _note(latencies, record.value or b"")

        receiving = asyncio.ensure_future(receive())
        await _paced(count, size, lambda value: producer.send(topic, value, partition=0))
        await receiving
    return _percentile(latencies)


async def aiokafka_produce(broker: str, topic: str, count: int, size: int) -> float:
    from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]

    async with AIOKafkaProducer(
        bootstrap_servers=broker, enable_idempotence=True, linger_ms=_LINGER_MS
    ) as producer:
        send, value = producer.send, bytes(size)
        await producer.send_and_wait(topic, value)
        started = time.perf_counter()
        for _ in range(count):
            await send(topic, value)
        await producer.flush()
        return count / (time.perf_counter() - started)


async def aiokafka_latency(broker: str, topic: str, count: int, size: int) -> float:
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

    latencies: list[int] = []
    async with (
        AIOKafkaProducer(bootstrap_servers=broker, enable_idempotence=True) as producer,
        AIOKafkaConsumer(bootstrap_servers=broker) as consumer,
    ):
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        await consumer.seek_to_end(partition)

        async def receive() -> None:
            while len(latencies) < count + _WARM:
                for records in (await consumer.getmany(timeout_ms=1_000)).values():
                    for record in records:
                        _note(latencies, record.value)

        receiving = asyncio.ensure_future(receive())
        await _paced(count, size, lambda value: producer.send(topic, value, partition=0))
        await receiving
    return _percentile(latencies)


async def confluent_produce(broker: str, topic: str, count: int, size: int) -> float:
    from confluent_kafka import Producer

    producer = Producer(
        {"bootstrap.servers": broker, "enable.idempotence": True, "linger.ms": _LINGER_MS}
    )
    value = bytes(size)
    producer.produce(topic, value)
    producer.flush()
    started = time.perf_counter()
    for number in range(count):
        while True:
            try:
                producer.produce(topic, value)
                break
            except BufferError:
                producer.poll(0.01)
        if number % 1_000 == 0:
            producer.poll(0)
    producer.flush()
    return count / (time.perf_counter() - started)


LOADS: Final[dict[tuple[str, str], Load]] = {
    ("ottla", "produce"): ottla_produce,
    ("ottla", "columns"): ottla_columns,
    ("ottla", "latency"): ottla_latency,
    ("aiokafka", "produce"): aiokafka_produce,
    ("aiokafka", "latency"): aiokafka_latency,
    ("confluent", "produce"): confluent_produce,
}


async def _paced(
    count: int, size: int, send: Callable[[bytes], Coroutine[Any, Any, object]]
) -> None:
    padding = bytes(max(size - _DUE.size, 0))
    start_ns = time.perf_counter_ns()
    for number in range(count + _WARM):
        due_ns = start_ns + number * 1_000_000_000 // _RATE
        ahead_ns = due_ns - time.perf_counter_ns()
        await asyncio.sleep(max(ahead_ns, 0) / 1e9)  # noqa: TID251 - paced by the host's clock
        await send(_DUE.pack(due_ns) + padding)


def _note(latencies: list[int], value: bytes) -> None:
    (due_ns,) = _DUE.unpack_from(value)
    latencies.append(time.perf_counter_ns() - due_ns)


def _percentile(latencies: list[int]) -> float:
    measured = sorted(latencies[_WARM:])
    return measured[len(measured) * 99 // 100] / 1e6


def main(client: str, load: str, broker: str, topic: str, count: str, size: str) -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        value = runner.run(LOADS[client, load](broker, topic, int(count), int(size)))
    print(json.dumps({"value": value}))


if __name__ == "__main__":
    main(*sys.argv[1:])
