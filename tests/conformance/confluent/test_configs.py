"""Configs through librdkafka's admin client."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
)
from confluent_kafka.admin._resource import ResourceType

from tests.conformance.clients import Client, Message, RefusedError
from tests.conformance.topics import Topics

SET, DELETE = AlterConfigOpType.SET, AlterConfigOpType.DELETE
APPEND, SUBTRACT = AlterConfigOpType.APPEND, AlterConfigOpType.SUBTRACT


def describe(admin: AdminClient, resource: ConfigResource) -> dict[str, ConfigEntry]:
    entries: dict[str, ConfigEntry] = admin.describe_configs([resource])[resource].result()
    return entries


def alter(
    admin: AdminClient, topic: str, *changes: tuple[str, str | None, AlterConfigOpType]
) -> None:
    entries = [
        ConfigEntry(name, value, incremental_operation=operation)
        for name, value, operation in changes
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin.incremental_alter_configs([resource])[resource].result()


def test_a_topics_configs_say_where_they_come_from(admin: AdminClient, topics: Topics) -> None:
    topic = topics.create(retention_ms="1234")
    configs = describe(admin, ConfigResource(ResourceType.TOPIC, topic))

    assert configs["retention.ms"].value == "1234"
    assert ConfigSource(configs["retention.ms"].source) is ConfigSource.DYNAMIC_TOPIC_CONFIG
    assert configs["segment.bytes"].value == "1073741824"
    assert configs["segment.bytes"].is_default
    assert list(configs["retention.ms"].synonyms) == ["retention.ms"]
    assert "log.segment.bytes" in configs["segment.bytes"].synonyms


def test_a_topics_configs_change_piece_by_piece(admin: AdminClient, topics: Topics) -> None:
    topic = topics.create(retention_ms="1234", cleanup_policy="delete")
    resource = ConfigResource(ResourceType.TOPIC, topic)

    alter(
        admin,
        topic,
        ("segment.ms", "5000", SET),
        ("retention.ms", None, DELETE),
        ("cleanup.policy", "compact", APPEND),
    )

    configs = describe(admin, resource)
    assert configs["segment.ms"].value == "5000"
    assert configs["retention.ms"].is_default
    assert set((configs["cleanup.policy"].value or "").split(",")) == {"delete", "compact"}
    alter(admin, topic, ("cleanup.policy", "delete", SUBTRACT))
    assert describe(admin, resource)["cleanup.policy"].value == "compact"


def test_a_changed_limit_holds_at_once(admin: AdminClient, topics: Topics, writer: Client) -> None:
    topic = topics.create()
    big = Message(bytes(20_000))
    writer.produce(topic, [big])

    alter(admin, topic, ("max.message.bytes", "10000", SET))
    with pytest.raises(RefusedError):
        writer.produce(topic, [big])
    alter(admin, topic, ("max.message.bytes", None, DELETE))

    assert writer.produce(topic, [big])[0].offset == 1


@pytest.mark.parametrize(
    ("name", "value"), [("retention.ms", "soon"), ("no.such.config", "1"), ("segment.bytes", "1")]
)
def test_a_wrong_config_is_refused_with_a_reason(
    admin: AdminClient, topics: Topics, name: str, value: str
) -> None:
    topic = topics.create()
    with pytest.raises(KafkaException, match=name) as refused:
        alter(admin, topic, (name, value, SET))
    assert refused.value.args[0].name() == "INVALID_CONFIG"


def test_configs_of_a_topic_that_is_not_there_are_an_error(admin: AdminClient) -> None:
    with pytest.raises(KafkaException, match="UNKNOWN_TOPIC_OR_PART"):
        describe(admin, ConfigResource(ResourceType.TOPIC, "nowhere-at-all"))


def test_a_brokers_configs_change_while_it_runs(admin: AdminClient) -> None:
    broker = ConfigResource(ResourceType.BROKER, "1")
    assert describe(admin, broker)["log.retention.ms"].value is None
    change = ConfigResource(
        ResourceType.BROKER,
        "1",
        incremental_configs=[
            ConfigEntry("log.cleaner.threads", "2", incremental_operation=AlterConfigOpType.SET)
        ],
    )

    admin.incremental_alter_configs([change])[change].result()

    configs = describe(admin, broker)
    assert configs["log.cleaner.threads"].value == "2"
    assert ConfigSource(configs["log.cleaner.threads"].source) is ConfigSource.DYNAMIC_BROKER_CONFIG
    assert configs["node.id"].is_read_only
