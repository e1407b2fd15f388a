"""What a client sees of a node that cleans up after it: retention and compaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.conformance.clients import EARLIEST, LATEST, TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.support.nodes.nodes import RunningNode, running_node

# Kafka's own intervals are for days, not for tests.
SETTINGS = {
    "log.cleaner.backoff.ms": "50",
    "log.retention.check.interval.ms": "50",
    "log.initial.task.delay.ms": "0",
}
RECORDS = 10


@pytest.fixture(scope="module")
def tidy_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("tidy"), settings=SETTINGS) as node:
        yield node


@pytest.fixture
def client(tidy_node: RunningNode) -> ConfluentClient:
    return ConfluentClient(tidy_node.bootstrap)


def create(client: ConfluentClient, topic: str, **configs: str) -> None:
    admin = AdminClient({"bootstrap.servers": client.bootstrap, "log_level": 0})
    dotted = {name.replace("_", "."): value for name, value in configs.items()}
    admin.create_topics([NewTopic(topic, 1, config=dotted)])[topic].result()


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = perf_counter() + TIMEOUT_S
    while not happened():
        assert perf_counter() < deadline, f"nothing of the kind in {TIMEOUT_S:.0f} s"


def read_to_the_end(client: ConfluentClient, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    consumer = client.consumer(enable_partition_eof=True)
    consumer.assign([TopicPartition(topic, 0, EARLIEST)])
    records = []
    while (message := consumer.poll(TIMEOUT_S)) is not None and message.error() is None:
        records.append((message.key(), message.value()))
    consumer.close()
    return records


def test_old_records_go(client: ConfluentClient) -> None:
    create(client, "aging", retention_ms="100")
    client.produce("aging", [Message(b"%d" % number) for number in range(RECORDS)])

    wait_until(lambda: client.offset_for("aging", 0, EARLIEST) == RECORDS)

    assert client.offset_for("aging", 0, LATEST) == RECORDS
    assert client.produce("aging", [Message(b"new")])[0].offset == RECORDS


def test_the_oldest_records_of_a_large_partition_go(client: ConfluentClient) -> None:
    create(client, "growing", retention_bytes="1500000", segment_bytes="1048576")
    for _ in range(RECORDS):
        client.produce("growing", [Message(bytes(400_000))])

    wait_until(lambda: (client.offset_for("growing", 0, EARLIEST) or 0) > 0)

    left = client.offset_for("growing", 0, EARLIEST)
    assert left is not None
    assert (RECORDS - left) * 400_000 >= 1_500_000


def test_the_last_value_of_each_key_stays(client: ConfluentClient) -> None:
    create(
        client,
        "compacted",
        cleanup_policy="compact",
        min_cleanable_dirty_ratio="0.01",
        segment_ms="50",
    )
    for number in range(RECORDS):
        client.produce("compacted", [Message(b"%d" % number, b"key %d" % (number % 2))])
    client.produce("compacted", [Message(None, b"key 0")])

    def is_compacted() -> bool:
        # What is written last is not compacted yet; it also has a new segment begun.
        client.produce("compacted", [Message(b"last", b"last")])
        records = [
            record for record in read_to_the_end(client, "compacted") if record[0] != b"last"
        ]
        return records == [(b"key 1", b"9"), (b"key 0", None)]

    wait_until(is_compacted)
