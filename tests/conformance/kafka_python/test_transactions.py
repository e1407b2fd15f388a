"""kafka-python's transactional producer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.conformance import transactions
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.kafka_python.client import (
    KafkaProducer,
    KafkaPythonClient,
    OffsetAndMetadata,
    TopicPartition,
    errors,
)
from tests.conformance.topics import Topics
from tests.conformance.transactions import values
from tests.support.nodes.nodes import RunningNode

admin, node = transactions.admin, transactions.node


@pytest.fixture
def topic(topics: Topics) -> str:
    return topics.create(partitions=2)


@contextmanager
def transactional(node: RunningNode, name: str) -> Iterator[Any]:
    producer = KafkaProducer(bootstrap_servers=node.bootstrap, transactional_id=name)
    try:
        producer.init_transactions()
        yield producer
    finally:
        producer.close(timeout=TIMEOUT_S)


def write(producer: Any, topic: str, value: str) -> None:
    producer.begin_transaction()
    for partition in range(2):
        producer.send(topic, value.encode(), partition=partition)
    producer.flush(timeout=TIMEOUT_S)


def test_committed_is_read_and_aborted_is_not(node: RunningNode, topic: str) -> None:
    with transactional(node, topic) as producer:
        for number in range(4):
            write(producer, topic, str(number))
            if number % 2:
                producer.abort_transaction()
            else:
                producer.commit_transaction()
    assert values(node.bootstrap, topic, partitions=2) == ["0", "0", "2", "2"]


def test_second_producer_fences_the_first(node: RunningNode, topic: str) -> None:
    with transactional(node, topic) as zombie:
        write(zombie, topic, "zombie's")
        with transactional(node, topic) as producer:
            write(producer, topic, "successor's")
            producer.commit_transaction()
        with pytest.raises(errors.KafkaError):
            zombie.commit_transaction()
    assert values(node.bootstrap, topic, partitions=2) == ["successor's"] * 2


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_are_part_of_the_transaction(
    node: RunningNode, topic: str, *, commits: bool
) -> None:
    name = TopicPartition(topic, 0)
    with transactional(node, topic) as producer:
        write(producer, topic, "record")
        producer.send_offsets_to_transaction(
            {name: OffsetAndMetadata(7, "", -1)}, f"group-of-{topic}"
        )
        if commits:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    with KafkaPythonClient(node.bootstrap).consumer(group_id=f"group-of-{topic}") as consumer:
        assert consumer.committed(name) == (7 if commits else None)
