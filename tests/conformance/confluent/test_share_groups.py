"""librdkafka's share consumers, which are a preview."""

from __future__ import annotations

from time import perf_counter

import pytest
from confluent_kafka import ShareConsumer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType

from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

admin, node = groups.admin, groups.node

RECORDS = 20


@pytest.fixture
def topic(node: RunningNode, topics: Topics) -> str:
    topic = topics.create(partitions=2)
    messages = [Message(b"%d" % number, partition=number % 2) for number in range(RECORDS)]
    ConfluentClient(node.bootstrap).produce(topic, messages)
    return topic


def test_share_consumer_gets_every_record(
    node: RunningNode, admin: AdminClient, topic: str
) -> None:
    group = f"{topic}-sharers"
    entry = ConfigEntry(
        "share.auto.offset.reset",
        "earliest",
        incremental_operation=AlterConfigOpType.SET,
    )
    resource = ConfigResource(ResourceType.GROUP, group, incremental_configs=[entry])
    admin.incremental_alter_configs([resource])[resource].result(TIMEOUT_S)
    consumer = ShareConsumer({"bootstrap.servers": node.bootstrap, "group.id": group})
    consumer.subscribe([topic])
    values: list[bytes | None] = []
    ends_at = perf_counter() + TIMEOUT_S
    while len(values) < RECORDS and perf_counter() < ends_at:
        for message in consumer.poll(1.0) or ():
            assert message.error() is None
            values.append(message.value())
    consumer.close()
    assert sorted(values, key=lambda value: int(value or b"-1")) == [
        b"%d" % number for number in range(RECORDS)
    ]
