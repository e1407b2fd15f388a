"""A client with a quota is held to it, in both directions, over a real connection.

How closely, and over what time, is Kafka's arithmetic: tests/unit/quotas/test_greedy_clients.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from typer.testing import CliRunner

from ottla.cli.main import make_app
from tests.support.nodes.node_process import NodeProcess

RATE = 4_000_000
SECONDS = 8
# What three windows allow besides the current one.
BURST = 2 * RATE
WINDOWS = {"quota.window.num": "3"}
TOPIC = "measured"
VALUE = b"x" * 10_000


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    with NodeProcess(tmp_path_factory.mktemp("quotas"), WINDOWS) as node:
        admin = AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)
        yield node


def set_quota(node: NodeProcess, client_id: str, key: str) -> None:
    command = ["quotas", "set", "--client-id", client_id, f"{key}={RATE}"]
    result = CliRunner().invoke(make_app("quotas"), [*command, "-b", node.bootstrap])
    assert result.exit_code == 0, result.output


def assert_held(events: list[tuple[float, int]]) -> None:
    """`events` are times and bytes. Beyond the rate, what a burst may have: as much as all windows
    but the current one allow, at the beginning and at the end."""
    elapsed = events[-1][0] - events[0][0]
    total = sum(size for _, size in events)
    assert RATE * elapsed / 4 < total < RATE * elapsed + 2 * BURST


def test_a_producer_is_held_to_its_rate(node: NodeProcess) -> None:
    set_quota(node, "writer", "producer_byte_rate")
    events: list[tuple[float, int]] = []
    producer = Producer(
        {
            "bootstrap.servers": node.bootstrap,
            "client.id": "writer",
            "log_level": 0,
            "batch.size": 100_000,
            "linger.ms": 5,
            "max.in.flight.requests.per.connection": 1,
            "queue.buffering.max.kbytes": 2_000,
        }
    )
    end = perf_counter() + SECONDS
    while perf_counter() < end:
        try:
            producer.produce(
                TOPIC,
                VALUE,
                on_delivery=lambda _error, message: events.append((perf_counter(), len(message))),
            )
        except BufferError:
            producer.poll(0.01)
        producer.poll(0)
    producer.purge()
    producer.flush(10)
    assert_held(events)


def test_a_consumer_is_held_to_its_rate(node: NodeProcess) -> None:
    total = RATE * (SECONDS + 6)
    producer = Producer({"bootstrap.servers": node.bootstrap, "log_level": 0})
    for _ in range(total // len(VALUE)):
        while True:
            try:
                producer.produce(TOPIC, VALUE)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush(60)
    set_quota(node, "reader", "consumer_byte_rate")
    consumer = Consumer(
        {
            "bootstrap.servers": node.bootstrap,
            "client.id": "reader",
            "group.id": "readers",
            "log_level": 0,
            "fetch.message.max.bytes": 200_000,
            "queued.max.messages.kbytes": 1_000,
        }
    )
    consumer.assign([TopicPartition(TOPIC, 0, 0)])
    events: list[tuple[float, int]] = []
    end = perf_counter() + SECONDS
    while perf_counter() < end:
        for message in consumer.consume(100, 0.1):
            assert message.error() is None, message.error()
            events.append((perf_counter(), len(message)))
    consumer.close()
    assert_held(events)
