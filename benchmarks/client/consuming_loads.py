"""One way of reading a topic from its beginning, in a process of its own on one core.

python -m benchmarks.client.consuming_loads CLIENT LOAD BROKER TOPIC PARTITIONS COUNT

Prints the records per second as a line of JSON. What is compiled on first use is compiled before.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final

import uvloop

ConsumingLoad = Callable[[str, str, int, int], Coroutine[Any, Any, float]]


async def ottla_poll(broker: str, topic: str, partitions: int, count: int) -> float:
    from ottla.client import Consumer, TopicPartition

    async with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, index) for index in range(partitions)])
        started, taken = time.perf_counter(), 0
        while taken < count:
            taken += len(await consumer.poll(1.0))
        return taken / (time.perf_counter() - started)


async def ottla_each(broker: str, topic: str, partitions: int, count: int) -> float:
    from ottla.client import Consumer, TopicPartition

    async with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, index) for index in range(partitions)])
        started, taken = time.perf_counter(), 0
        async for _ in consumer:
            taken += 1
            if taken == count:
                break
        return taken / (time.perf_counter() - started)


async def ottla_columns(broker: str, topic: str, partitions: int, count: int) -> float:
    from ottla.client import Consumer, TopicPartition

    async with Consumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, index) for index in range(partitions)])
        while await consumer.poll_columns(1.0) is None:
            pass
        consumer.seek_to_beginning()
        started, taken = time.perf_counter(), 0
        while taken < count:
            rows = await consumer.poll_columns(1.0)
            taken += 0 if rows is None else rows.num_rows
        return taken / (time.perf_counter() - started)


async def aiokafka_poll(broker: str, topic: str, partitions: int, count: int) -> float:
    from aiokafka import AIOKafkaConsumer, TopicPartition  # type: ignore[import-untyped]

    async with AIOKafkaConsumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, index) for index in range(partitions)])
        started, taken = time.perf_counter(), 0
        while taken < count:
            for records in (await consumer.getmany(timeout_ms=1_000)).values():
                taken += len(records)
        return taken / (time.perf_counter() - started)


async def aiokafka_each(broker: str, topic: str, partitions: int, count: int) -> float:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    async with AIOKafkaConsumer(bootstrap_servers=broker, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition(topic, index) for index in range(partitions)])
        started, taken = time.perf_counter(), 0
        async for _ in consumer:
            taken += 1
            if taken == count:
                break
        return taken / (time.perf_counter() - started)


async def confluent_poll(broker: str, topic: str, partitions: int, count: int) -> float:
    from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": broker, "group.id": "unused"})
    consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in range(partitions)])
    started, taken = time.perf_counter(), 0
    while taken < count:
        taken += len(consumer.consume(500, 1.0))
    seconds = time.perf_counter() - started
    consumer.close()
    return taken / seconds


CONSUMING_LOADS: Final[dict[tuple[str, str], ConsumingLoad]] = {
    ("ottla", "poll"): ottla_poll,
    ("ottla", "each"): ottla_each,
    ("ottla", "columns"): ottla_columns,
    ("aiokafka", "poll"): aiokafka_poll,
    ("aiokafka", "each"): aiokafka_each,
    ("confluent", "poll"): confluent_poll,
}


def _main() -> None:
    client, load, broker, topic, partitions, count = sys.argv[1:]
    # The broker has the other core.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    run = CONSUMING_LOADS[client, load]
    print(json.dumps({"value": uvloop.run(run(broker, topic, int(partitions), int(count)))}))


if __name__ == "__main__":
    _main()
