"""Two tenants use the same topics, groups and transactional ids with every client: neither sees
anything of the other."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from ottla.client import Admin, ShareConsumer
from ottla.client.administration import ConfigResource, ConfigResourceType
from tests.conformance.aiokafka.client import AiokafkaClient
from tests.conformance.clients import EARLIEST, Client, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.client import Java, JavaClient
from tests.conformance.kafka_python.client import KafkaPythonClient
from tests.conformance.kcat.client import KcatClient
from tests.conformance.kcat.client import reason_unavailable as reason_no_kcat
from tests.conformance.ottla.client import OttlaClient
from tests.conformance.tenants.conftest import TenantNode

SECONDS = 30.0


def admin_of(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def create_topic(bootstrap: str, topic: str) -> None:
    # A handle that is released fails what is pending.
    admin = admin_of(bootstrap)
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(SECONDS)


CLIENTS: dict[str, Any] = {
    "ottla": OttlaClient,
    "confluent": ConfluentClient,
    "kafka-python": KafkaPythonClient,
    "aiokafka": AiokafkaClient,
    "kcat": KcatClient,
}


@pytest.fixture
def pair(tenants: TenantNode, request: pytest.FixtureRequest) -> Iterator[tuple[Client, Client]]:
    """The same client for both tenants."""
    name = request.param
    if name == "java":
        java: Java = request.getfixturevalue("java")
        yield JavaClient(java, tenants.acme), JavaClient(java, tenants.beta)
        return
    if name == "kcat" and (reason := reason_no_kcat()):
        pytest.skip(reason)
    yield CLIENTS[name](tenants.acme), CLIENTS[name](tenants.beta)


@pytest.mark.parametrize(
    "pair", [*CLIENTS, pytest.param("java", marks=pytest.mark.java)], indirect=True
)
def test_each_tenant_reads_what_it_wrote(tenants: TenantNode, pair: tuple[Client, Client]) -> None:
    topic = f"orders-{pair[0].name}"
    for client, bootstrap, value in zip(
        pair, (tenants.acme, tenants.beta), (b"of acme", b"of beta"), strict=True
    ):
        create_topic(bootstrap, topic)
        client.produce(topic, [Message(value)] * 3)
    for client, value in zip(pair, (b"of acme", b"of beta"), strict=True):
        received = client.consume({(topic, 0): EARLIEST}, 3)
        assert [each.value for each in received] == [value] * 3


def consumer_of(bootstrap: str, **configs: Any) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "sales",
            "auto.offset.reset": "earliest",
            "log_level": 0,
            **configs,
        }
    )


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_of_the_same_name_are_two(tenants: TenantNode, protocol: str) -> None:
    topic = f"grouped-{protocol}"
    for bootstrap, value in ((tenants.acme, b"of acme"), (tenants.beta, b"of beta")):
        create_topic(bootstrap, topic)
        ConfluentClient(bootstrap).produce(topic, [Message(value)] * 2)
    configs = {"group.protocol": protocol, "group.id": f"sales-{protocol}"}
    for bootstrap, value in ((tenants.acme, b"of acme"), (tenants.beta, b"of beta")):
        consumer = consumer_of(bootstrap, **configs)
        consumer.subscribe([f"^grouped-{protocol}.*"])
        received: list[bytes | None] = []
        while len(received) < 2:
            message = consumer.poll(SECONDS)
            assert message is not None
            assert message.error() is None, message.error()
            assert message.topic() == topic
            received.append(message.value())
        assert received == [value] * 2
        consumer.commit(asynchronous=False)
        (committed,) = consumer.committed([TopicPartition(topic, 0)], timeout=SECONDS)
        assert committed.offset == 2
        consumer.close()
        admin = admin_of(bootstrap)
        groups = admin.list_consumer_groups().result(SECONDS)
        assert f"sales-{protocol}" in {group.group_id for group in groups.valid}
        assert not any("." in group.group_id for group in groups.valid)


def test_transactions_of_the_same_id_do_not_fence_each_other(tenants: TenantNode) -> None:
    producers = []
    for bootstrap in (tenants.acme, tenants.beta):
        create_topic(bootstrap, "paid")
        producer = Producer(
            {"bootstrap.servers": bootstrap, "transactional.id": "pay", "log_level": 0}
        )
        producer.init_transactions(SECONDS)
        producers.append(producer)
    for producer in producers:
        producer.begin_transaction()
        producer.produce("paid", b"value")
    producers[0].commit_transaction(SECONDS)
    producers[1].abort_transaction(SECONDS)
    client = ConfluentClient(tenants.acme)
    assert len(client.consume({("paid", 0): EARLIEST}, 1, read_committed=True)) == 1


def test_a_tenant_sees_its_topics_only(tenants: TenantNode) -> None:
    create_topic(tenants.operator, "of-the-operator")
    create_topic(tenants.beta, "of-beta")
    create_topic(tenants.acme, "of-acme")
    seen = set(admin_of(tenants.acme).list_topics(timeout=SECONDS).topics)
    assert "of-acme" in seen
    assert not any(name in seen for name in ("of-beta", "of-the-operator"))
    assert not any("." in name or name.startswith("__") for name in seen)
    everything = set(admin_of(tenants.operator).list_topics(timeout=SECONDS).topics)
    assert {"acme.of-acme", "beta.of-beta", "of-the-operator"} <= everything


def test_the_operator_lives_with_tenants_from_create_to_delete(tenants: TenantNode) -> None:
    created = tenants.run(
        "tenants", "create", "gamma", "--quota", "producer_byte_rate=10MB", "--partitions-max", "9"
    )
    assert created.exit_code == 0, created.stderr
    assert "its names begin with gamma." in created.stdout
    create_topic(tenants.operator, "gamma.orders")
    shown = tenants.run("tenants", "describe", "gamma").stdout
    assert "partitions" in shown
    assert "9" in shown
    assert "10.0 MB/s" in tenants.run("quotas", "list", "--user", "gamma.admin").stdout
    assert "gamma" in tenants.run("tenants", "list", "--json").stdout
    refused = tenants.run("tenants", "delete", "gamma", "--yes")
    assert refused.exit_code != 0
    assert "1 topic" in refused.stderr
    assert tenants.run("tenants", "delete", "gamma", "--yes", "--with-topics").exit_code == 0
    assert "gamma" not in tenants.run("tenants", "list").stdout
    assert "gamma" not in tenants.run("quotas", "list").stdout
    topics = admin_of(tenants.operator).list_topics(timeout=SECONDS).topics
    assert "gamma.orders" not in topics


def test_share_groups_of_the_same_name_are_two(tenants: TenantNode) -> None:
    for bootstrap, value in ((tenants.acme, b"of acme"), (tenants.beta, b"of beta")):
        create_topic(bootstrap, "shared")
        ConfluentClient(bootstrap).produce("shared", [Message(value)] * 3)
    for bootstrap, value in ((tenants.acme, b"of acme"), (tenants.beta, b"of beta")):
        asyncio.run(share(bootstrap, value))


async def share(bootstrap: str, value: bytes) -> None:
    resource = ConfigResource(ConfigResourceType.GROUP, "workers")
    async with Admin(bootstrap_servers=bootstrap) as admin:
        (await admin.alter_configs({resource: {"share.auto.offset.reset": "earliest"}})).all()
    received: list[bytes | None] = []
    async with ShareConsumer(bootstrap_servers=bootstrap, group_id="workers") as consumer:
        await consumer.subscribe(["shared"])
        deadline = perf_counter() + SECONDS
        while len(received) < 3:
            assert perf_counter() < deadline, received
            for record in await consumer.poll(0.5):
                assert record.topic == "shared"
                received.append(record.value)
    assert received == [value] * 3
