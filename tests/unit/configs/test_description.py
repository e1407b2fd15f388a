"""What DescribeConfigs shows is what a real broker with the same configs showed."""

from collections.abc import Iterable
from typing import Any

import pytest

from ottla.configs import (
    ConfigEntry,
    ConfigSource,
    ConfigType,
    NodeConfig,
    describe_broker,
    describe_brokers_default,
    describe_group,
    describe_topic,
)
from tests.support.kafka.config_fixtures import OF_THE_AUTHORIZER, read

BROKERS = pytest.mark.parametrize("name", ["plain", "tuned"])


def recorded_node(name: str) -> NodeConfig:
    recorded = read("described")[name]
    # The controller sets this itself, for eligible leader replicas to be safe (KIP-966).
    cluster = recorded["dynamic_default"] | {"min.insync.replicas": "1"}
    # A properties file has no white space before a value.
    static = {name: text.lstrip() for name, text in recorded["static"].items()}
    return NodeConfig.of(static).with_dynamic(cluster=cluster, broker=recorded["dynamic_broker"])


def rows(entries: Iterable[ConfigEntry]) -> list[dict[str, Any]]:
    """Of the configs that Kafka has."""
    return [
        {
            "name": entry.name,
            "value": entry.value,
            "source": entry.source.name,
            "sensitive": entry.is_sensitive,
            "read_only": entry.is_read_only,
            "type": entry.type.name,
            "synonyms": [[name, value, source.name] for name, value, source in entry.synonyms],
        }
        for entry in entries
        if not entry.name.startswith(("ottla.", "errors.deadletterqueue."))
        and entry.name not in OF_THE_AUTHORIZER
    ]


@BROKERS
def test_brokers_are_described_as_kafkas_are(name: str) -> None:
    described = read("described")[name]["described"]
    assert rows(describe_broker(recorded_node(name))) == described["BROKER:1"]


@BROKERS
def test_what_all_brokers_share_is_described_as_kafkas_is(name: str) -> None:
    described = read("described")[name]["described"]
    assert rows(describe_brokers_default(recorded_node(name))) == described["BROKER:"]


@BROKERS
def test_topics_are_described_as_kafkas_are(name: str) -> None:
    recorded = read("described")[name]
    node = recorded_node(name)
    for topic, overrides in recorded["topics"].items():
        entries = describe_topic(node.topic_config(overrides), node=node)
        assert rows(entries) == recorded["described"][f"TOPIC:{topic}"]


@BROKERS
def test_groups_are_described_as_kafkas_are(name: str) -> None:
    recorded = read("described")[name]
    node = recorded_node(name)
    for group, overrides in recorded["groups"].items():
        entries = describe_group(overrides, node=node)
        assert rows(entries) == recorded["described"][f"GROUP:{group}"]


def test_only_named_configs_are_described_where_some_are_named() -> None:
    node = NodeConfig.of({})
    names = ["retention.ms", "no.such.config", "internal.segment.bytes"]
    assert [
        entry.name for entry in describe_topic(node.topic_defaults, node=node, names=names)
    ] == ["retention.ms"]
    assert [entry.name for entry in describe_broker(node, names=["node.id"])] == ["node.id"]
    assert len(describe_broker(node, names=[])) > 300
    assert describe_brokers_default(node, names=["node.id"]) == []


def test_a_topics_unknown_config_is_taken_for_a_secret() -> None:
    node = NodeConfig.of({})
    topic = node.topic_config({"message.format.version": "3.0"})
    [entry] = describe_topic(topic, node=node, names=["message.format.version"])
    assert entry.value is None
    assert entry.is_sensitive
    assert entry.type is ConfigType.UNKNOWN
    assert entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG


def test_sources_and_types_have_kafkas_codes() -> None:
    assert [(source.name, source.value) for source in ConfigSource][1:6] == [
        ("DYNAMIC_TOPIC_CONFIG", 1),
        ("DYNAMIC_BROKER_CONFIG", 2),
        ("DYNAMIC_DEFAULT_BROKER_CONFIG", 3),
        ("STATIC_BROKER_CONFIG", 4),
        ("DEFAULT_CONFIG", 5),
    ]
    kinds = ["BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"]
    assert [ConfigType[kind].value for kind in kinds] == list(range(1, 10))


def test_a_groups_unknown_config_is_taken_for_a_secret() -> None:
    entries = describe_group({"of.a.later.version": "1"}, node=NodeConfig.of({}))
    unknown = next(entry for entry in entries if entry.name == "of.a.later.version")
    assert unknown.value is None
    assert unknown.is_sensitive
    assert unknown.source is ConfigSource.DYNAMIC_GROUP_CONFIG
