"""What other clients do to a cluster that is administered."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from confluent_kafka import Consumer, Producer

from ottla.client.errors import ClientError
from tests.conformance.clients import TIMEOUT_S

T = TypeVar("T")


def produce(bootstrap: str, topic: str, places: Iterable[tuple[int, int]]) -> None:
    """A record in each of these partitions, with this timestamp."""
    producer = _producer(bootstrap, acks="all")
    for partition, timestamp in places:
        producer.produce(topic, b"value", partition=partition, timestamp=timestamp)
    assert producer.flush(TIMEOUT_S) == 0


@contextmanager
def consuming(bootstrap: str, topic: str, group: str, protocol: str) -> Iterator[None]:
    """A member of a group that polls in a thread of its own."""
    configs = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "group.protocol": protocol,
        "client.id": "a-client",
        "auto.offset.reset": "earliest",
        "log_level": 0,
    }
    consumer = Consumer(configs)
    consumer.subscribe([topic])
    is_over = threading.Event()

    def poll() -> None:
        while not is_over.is_set():
            consumer.poll(0.1)

    thread = threading.Thread(target=poll)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        consumer.close()


@contextmanager
def open_transaction(bootstrap: str, topic: str, transactional_id: str) -> Iterator[None]:
    """With one record."""
    producer = _producer(bootstrap, **{"transactional.id": transactional_id})
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    producer.produce(topic, b"value")
    assert producer.flush(TIMEOUT_S) == 0
    yield
    producer.purge()


async def until(look: Callable[[], Awaitable[T]], is_so: Callable[[T], object]) -> T:
    """Looks again until it is so: a broker shows a change a moment after the controller made it."""
    while True:
        found = await look()
        if is_so(found):
            return found


async def caught(call: Awaitable[object]) -> ClientError | None:
    """The error of a call, or of its only item."""
    try:
        found = await call
    except ClientError as error:
        return error
    failed = getattr(found, "failed", {})
    return next(iter(failed.values()), None)


def _producer(bootstrap: str, **configs: Any) -> Producer:
    return Producer({"bootstrap.servers": bootstrap, "log_level": 0, **configs})
