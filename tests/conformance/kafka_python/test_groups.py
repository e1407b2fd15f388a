"""kafka-python's consumers in groups."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import pytest

from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S, Client, Message
from tests.conformance.kafka_python.client import KafkaPythonClient, TopicPartition
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

admin, node = groups.admin, groups.node

PARTITIONS = 4
RECORDS = 20


@pytest.fixture
def client(node: RunningNode) -> KafkaPythonClient:
    return KafkaPythonClient(node.bootstrap)


@pytest.fixture
def topic(writer: Client, topics: Topics) -> str:
    topic = topics.create(partitions=PARTITIONS)
    messages = [Message(b"%d" % n, partition=n % PARTITIONS) for n in range(RECORDS)]
    writer.produce(topic, messages)
    return topic


def member(topic: str) -> dict[str, Any]:
    return {
        "group_id": f"group-of-{topic}",
        "auto_offset_reset": "earliest",
        "enable_auto_commit": False,
        "heartbeat_interval_ms": 300,
    }


def subscribe(consumer: Any, topic: str) -> None:
    """Once the client knows the topic: as the leader of a group without an initial delay it would
    otherwise assign partitions without those that it does not know yet, and never look again."""
    assert consumer.partitions_for_topic(topic)
    consumer.subscribe([topic])


def consume(consumer: Any, count: int) -> list[Any]:
    deadline = perf_counter() + TIMEOUT_S
    received: list[Any] = []
    while len(received) < count and perf_counter() < deadline:
        for records in consumer.poll(200).values():
            received += records
    return received


def test_a_group_goes_on_where_it_committed(client: KafkaPythonClient, topic: str) -> None:
    with client.consumer(**member(topic)) as consumer:
        subscribe(consumer, topic)
        assert len(consume(consumer, RECORDS)) == RECORDS
        consumer.commit()
    with client.consumer(**member(topic)) as consumer:
        assert consumer.committed(TopicPartition(topic, 0)) == RECORDS // PARTITIONS
        subscribe(consumer, topic)
        deadline = perf_counter() + TIMEOUT_S
        while len(consumer.assignment()) < PARTITIONS and perf_counter() < deadline:
            consumer.poll(100)
        assert [consumer.position(each) for each in sorted(consumer.assignment())] == [
            RECORDS // PARTITIONS
        ] * PARTITIONS


def test_two_members_share_the_partitions(client: KafkaPythonClient, topic: str) -> None:
    with client.consumer(**member(topic)) as first, client.consumer(**member(topic)) as second:
        for consumer in (first, second):
            subscribe(consumer, topic)
        deadline = perf_counter() + TIMEOUT_S
        while perf_counter() < deadline and not (
            len(first.assignment()) == len(second.assignment()) == PARTITIONS // 2
        ):
            first.poll(50)
            second.poll(50)
        assert len(first.assignment() | second.assignment()) == PARTITIONS


def test_the_admin_sees_the_group(client: KafkaPythonClient, topic: str) -> None:
    group = f"group-of-{topic}"
    with client.consumer(**member(topic)) as consumer, client.admin() as admin:
        subscribe(consumer, topic)
        consume(consumer, RECORDS)
        consumer.commit()
        described = admin.describe_groups([group])[group]
        assert described["group_state"] == "Stable"
        (seen,) = described["members"]
        assert seen["member_assignment"]["assigned_partitions"][0]["topic"] == topic
        assert group in {each["group_id"] for each in admin.list_groups()}
