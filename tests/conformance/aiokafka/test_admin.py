"""Topics and configs through aiokafka's admin client, which speaks old versions of the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from aiokafka import TopicPartition  # type: ignore[import-untyped]
from aiokafka.admin import (  # type: ignore[import-untyped]
    NewPartitions,
    NewTopic,
    RecordsToDelete,
)
from aiokafka.admin.config_resource import (  # type: ignore[import-untyped]
    ConfigResource,
    ConfigResourceType,
)
from aiokafka.errors import (  # type: ignore[import-untyped]
    InvalidPartitionsError,
    OffsetOutOfRangeError,
)

from ottla.model import ErrorCode
from tests.conformance.aiokafka.client import AiokafkaClient
from tests.conformance.clients import EARLIEST, LATEST, Message
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

T = TypeVar("T")


@pytest.fixture
def client(node: RunningNode) -> AiokafkaClient:
    return AiokafkaClient(node.bootstrap)


def with_admin(client: AiokafkaClient, use: Callable[[Any], Awaitable[T]]) -> T:
    async def run() -> T:
        async with client.admin() as admin:
            return await use(admin)

    return asyncio.run(run())


def test_topics_are_created_listed_described_grown_and_deleted(
    client: AiokafkaClient, topics: Topics
) -> None:
    topic = topics.name()

    async def use(admin: Any) -> None:
        created = await admin.create_topics(
            [NewTopic(topic, 2, 1, topic_configs={"retention.ms": "1234"})]
        )
        assert [(name, error) for name, error, *_ in created.topic_errors] == [(topic, 0)]
        assert topic in await admin.list_topics()
        await admin.create_partitions({topic: NewPartitions(3)})
        (described,) = await admin.describe_topics([topic])
        assert [each["partition"] for each in described["partitions"]] == [0, 1, 2]
        with pytest.raises(InvalidPartitionsError):
            await admin.create_partitions({topic: NewPartitions(2)})
        deleted = await admin.delete_topics([topic])
        assert [tuple(each) for each in deleted.topic_error_codes] == [(topic, 0)]
        assert topic not in await admin.list_topics()

    with_admin(client, use)


def test_a_topic_that_exists_is_not_created_again(client: AiokafkaClient, topics: Topics) -> None:
    topic = topics.create()

    async def use(admin: Any) -> None:
        answer = await admin.create_topics([NewTopic(topic, 1, 1)])
        ((name, error, message, *_),) = answer.topic_errors
        assert (name, error) == (topic, ErrorCode.TOPIC_ALREADY_EXISTS)
        assert topic in message

    with_admin(client, use)


def test_configs_are_described_and_replaced(client: AiokafkaClient, topics: Topics) -> None:
    topic = topics.create(retention_ms="1234")

    async def described(admin: Any) -> dict[str, str]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        (answer,) = await admin.describe_configs([resource])
        ((error, _, _, name, entries),) = answer.resources
        assert (error, name) == (0, topic)
        return {key: value for key, value, *_ in entries}

    async def use(admin: Any) -> None:
        before = await described(admin)
        assert (before["retention.ms"], before["segment.bytes"]) == ("1234", "1073741824")
        change = ConfigResource(ConfigResourceType.TOPIC, topic, {"segment.bytes": "2000000"})
        await admin.alter_configs([change])
        after = await described(admin)
        # What is not named is reset.
        assert (after["retention.ms"], after["segment.bytes"]) == ("604800000", "2000000")

    with_admin(client, use)


def test_the_brokers_configs_are_described(client: AiokafkaClient) -> None:
    async def use(admin: Any) -> None:
        (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.BROKER, "1")])
        ((error, _, _, _, entries),) = answer.resources
        assert error == 0
        assert len(entries) > 200

    with_admin(client, use)


def test_records_are_deleted(client: AiokafkaClient, topics: Topics) -> None:
    topic = topics.create()
    client.produce(topic, [Message(b"%d" % number) for number in range(5)])
    partition = TopicPartition(topic, 0)

    async def use(admin: Any) -> None:
        assert await admin.delete_records({partition: RecordsToDelete(3)}) == {partition: 3}
        with pytest.raises(OffsetOutOfRangeError):
            await admin.delete_records({partition: RecordsToDelete(6)})

    with_admin(client, use)
    assert client.offset_for(topic, 0, EARLIEST) == 3
    assert client.offset_for(topic, 0, LATEST) == 5


def test_the_cluster_describes_itself(client: AiokafkaClient, node: RunningNode) -> None:
    async def use(admin: Any) -> None:
        cluster = await admin.describe_cluster()
        (broker,) = cluster["brokers"]
        assert f"{broker['host']}:{broker['port']}" == node.bootstrap
        assert cluster["controller_id"] == broker["node_id"] == 1

    with_admin(client, use)
