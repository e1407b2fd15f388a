"""perf.c's twin in Python with confluent-kafka, as an application would use it: same arguments,
same line of JSON.

python -m benchmarks.versus.python_client produce|consume|group|latency|transact ...
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from struct import Struct

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)

WAIT_S = 30.0
LATENCY_SIZE = 1_000
POLL_EVERY = 1_000
_DUE = Struct("<q")


def main(arguments: list[str]) -> None:
    command, broker, topic, *rest = arguments
    numbers = [int(argument) for argument in rest if "=" not in argument]
    settings = dict(argument.split("=", 1) for argument in rest if "=" in argument)
    commands: dict[str, Callable[..., dict[str, float]]] = {
        "produce": produce,
        "consume": consume,
        "group": group,
        "latency": latency,
        "transact": transact,
    }
    result = commands[command](broker, topic, *numbers, settings=settings)
    print(json.dumps(result))


def produce(
    broker: str, topic: str, count: int, size: int, /, *, settings: dict[str, str]
) -> dict[str, float]:
    producer = Producer({"bootstrap.servers": broker, "on_delivery": _on_delivery} | settings)
    payload = bytes(size)
    producer.produce(topic, payload)
    _flush(producer)
    started = time.perf_counter()
    for number in range(count):
        _send(producer, topic, payload)
        if number % POLL_EVERY == 0:
            producer.poll(0)
    _flush(producer)
    seconds = time.perf_counter() - started
    return {"messages": count, "bytes": count * size, "seconds": seconds}


def consume(
    broker: str, topic: str, partitions: int, count: int, /, *, settings: dict[str, str]
) -> dict[str, float]:
    return _take(_assigned(broker, topic, partitions, settings), count, lambda: None)


def group(broker: str, topic: str, count: int, /, *, settings: dict[str, str]) -> dict[str, float]:
    consumer = Consumer({"bootstrap.servers": broker} | settings)
    consumer.subscribe([topic])
    return _take(consumer, count, lambda: consumer.commit(asynchronous=False))


def _take(consumer: Consumer, count: int, after_batch: Callable[[], object]) -> dict[str, float]:
    first = len(_taken(consumer))
    after_batch()
    started = time.perf_counter()
    messages = received = 0
    while first + messages < count:
        batch = _taken(consumer)
        messages += len(batch)
        received += sum(len(message.value() or b"") for message in batch)
        after_batch()
    seconds = time.perf_counter() - started
    return {"messages": messages, "bytes": received, "seconds": seconds}


def latency(
    broker: str, topic: str, partitions: int, rate: int, count: int, /, *, settings: dict[str, str]
) -> dict[str, float]:
    warm = rate
    latencies_ns: list[int] = []
    consumer = _assigned(broker, topic, partitions, {})

    def receive() -> None:
        for _ in range(count + warm):
            message = consumer.poll(WAIT_S)
            (due_ns,) = _DUE.unpack_from(_value(message))
            latencies_ns.append(time.perf_counter_ns() - due_ns)

    receiver = threading.Thread(target=receive)
    receiver.start()
    producer = Producer({"bootstrap.servers": broker, "on_delivery": _on_delivery} | settings)
    padding = bytes(LATENCY_SIZE - _DUE.size)
    start_ns = time.perf_counter_ns()
    for sent in range(count + warm):
        due_ns = start_ns + sent * 1_000_000_000 // rate
        ahead_ns = due_ns - time.perf_counter_ns()
        if ahead_ns > 0:
            time.sleep(ahead_ns / 1e9)
        _send(producer, topic, _DUE.pack(due_ns) + padding, partition=sent % partitions)
        producer.poll(0)
    _flush(producer)
    receiver.join()
    measured = sorted(latencies_ns[warm:])
    return {
        f"{name}_us": measured[min(count - 1, int(count * share))] / 1000
        for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999))
    }


def transact(
    broker: str,
    topic: str,
    partitions: int,
    count: int,
    records: int,
    size: int,
    abort_every: int,
    rate: int,
    /,
    *,
    settings: dict[str, str],
) -> dict[str, float]:
    producer = Producer({"bootstrap.servers": broker, "on_delivery": _on_delivery} | settings)
    producer.init_transactions(WAIT_S)
    payload, warm = bytes(size), 1 + count // 100
    commits_ns: list[int] = []
    wholes_ns: list[int] = []
    start_ns = paced_from_ns = time.perf_counter_ns()
    for number in range(-warm, count):
        if rate:
            due_ns = paced_from_ns + (number + warm) * 1_000_000_000 // rate
            time.sleep(max(due_ns - time.perf_counter_ns(), 0) / 1e9)
        begun_ns = time.perf_counter_ns()
        if number == 0:
            start_ns = begun_ns
        producer.begin_transaction()
        for sent in range(records):
            _send(producer, topic, payload, partition=sent % partitions)
        _flush(producer)
        if number >= 0 and abort_every and (number + 1) % abort_every == 0:
            producer.abort_transaction(WAIT_S)
            continue
        flushed_ns = time.perf_counter_ns()
        producer.commit_transaction(WAIT_S)
        commits_ns.append(time.perf_counter_ns() - flushed_ns)
        wholes_ns.append(time.perf_counter_ns() - begun_ns)
    seconds = (time.perf_counter_ns() - start_ns) / 1e9
    result: dict[str, float] = {
        "messages": count * records,
        "bytes": count * records * size,
        "seconds": seconds,
        "committed": len(commits_ns) * records,
    }
    for title, took_ns in (("commit", commits_ns), ("whole", wholes_ns)):
        measured = sorted(took_ns[warm:])
        for name, share in (("p50", 0.5), ("p99", 0.99)):
            result[f"{title}_{name}_us"] = measured[int((len(measured) - 1) * share)] / 1000
    return result


def _assigned(broker: str, topic: str, partitions: int, settings: dict[str, str]) -> Consumer:
    configs = {"bootstrap.servers": broker, "group.id": "bench", "enable.auto.commit": "false"}
    consumer = Consumer(configs | settings)
    consumer.assign(
        [TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(partitions)]
    )
    return consumer


def _taken(consumer: Consumer) -> list[Message]:
    # Returns at the latest when so many are there: enough that the call is not the cost.
    batch = consumer.consume(num_messages=1, timeout=WAIT_S)
    batch += consumer.consume(num_messages=POLL_EVERY, timeout=0)
    for message in batch:
        _value(message)
    if not batch:
        sys.exit("no more messages came")
    return batch


def _value(message: Message | None) -> bytes:
    if message is None:
        sys.exit("no message came in time")
    error = message.error()
    if error is not None:
        sys.exit(f"consume: {error}")
    return message.value() or b""


def _send(producer: Producer, topic: str, payload: bytes, *, partition: int = -1) -> None:
    while True:
        try:
            producer.produce(topic, payload, partition=partition)
            return
        except BufferError:
            producer.poll(0.005)


def _flush(producer: Producer) -> None:
    if producer.flush(WAIT_S):
        sys.exit("not everything was taken in time")


def _on_delivery(error: KafkaError | None, message: Message) -> None:
    if error is not None:
        sys.exit(f"a message for {message.topic()} was not taken: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
