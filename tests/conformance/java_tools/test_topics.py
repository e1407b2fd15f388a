"""kafka-topics, kafka-configs and kafka-log-dirs."""

from __future__ import annotations

import json
import re

import pytest

from tests.conformance.clients import Client, Message
from tests.conformance.java_tools.client import Java, Ran
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

pytestmark = pytest.mark.java

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"


class Tool:
    """One tool, pointed at the node."""

    def __init__(self, java: Java, tool: str, node: RunningNode) -> None:
        self._java = java
        self._tool = tool
        self._node = node

    def run(self, *arguments: str) -> Ran:
        return self._java.run(self._tool, "--bootstrap-server", self._node.bootstrap, *arguments)

    def __call__(self, *arguments: str) -> str:
        """What it prints, if it is content."""
        ran = self.run(*arguments)
        assert ran.status == 0, ran.stdout + ran.stderr
        return ran.stdout


@pytest.fixture
def kafka_topics(java: Java, node: RunningNode) -> Tool:
    return Tool(java, TOPICS, node)


@pytest.fixture
def kafka_configs(java: Java, node: RunningNode) -> Tool:
    return Tool(java, CONFIGS, node)


def test_topics_are_created_listed_described_grown_and_deleted(
    kafka_topics: Tool, topics: Topics
) -> None:
    topic = topics.name()
    options = ("--partitions", "2", "--config", "retention.ms=1234")
    assert f"Created topic {topic}." in kafka_topics("--create", "--topic", topic, *options)
    assert topic in kafka_topics("--list").splitlines()

    heading, *partitions = kafka_topics("--describe", "--topic", topic).splitlines()
    assert re.fullmatch(
        rf"Topic: {topic}\tTopicId: \S{{22}}\tPartitionCount: 2\tReplicationFactor: 1\t"
        r"Configs: min.insync.replicas=1,retention.ms=1234",
        heading,
    )
    assert partitions == [
        f"\tTopic: {topic}\tPartition: {partition}\tLeader: 1\tReplicas: 1\tIsr: 1"
        "\tElr: \tLastKnownElr: "
        for partition in (0, 1)
    ]
    kafka_topics("--alter", "--topic", topic, "--partitions", "3")
    assert "PartitionCount: 3" in kafka_topics("--describe", "--topic", topic)
    assert topic in kafka_topics("--describe", "--topics-with-overrides")
    for trouble in ("unavailable-partitions", "under-replicated-partitions"):
        assert not kafka_topics("--describe", f"--{trouble}").strip()
    kafka_topics("--delete", "--topic", topic)
    assert topic not in kafka_topics("--list").splitlines()


def test_wrong_topics_are_refused(kafka_topics: Tool, topics: Topics) -> None:
    topic = topics.create(partitions=2)
    wrongs = {
        ("--create", "--topic", topic): "already exists",
        ("--create", "--topic", topics.name(), "--config", "retention.ms=soon"): "retention.ms",
        ("--create", "--topic", topics.name(), "--replication-factor", "2"): "eplication factor",
        ("--alter", "--topic", topic, "--partitions", "1"): "2 partition",
        ("--describe", "--topic", "nowhere-at-all"): "does not exist",
        ("--delete", "--topic", "nowhere-at-all"): "does not exist",
    }
    for arguments, reason in wrongs.items():
        ran = kafka_topics.run(*arguments)
        assert ran.status == 1
        assert reason in ran.stdout


def test_a_topics_configs_are_shown_as_kafkas_are(kafka_configs: Tool, topics: Topics) -> None:
    topic = topics.create(retention_ms="1234")
    described = kafka_configs("--describe", "--topic", topic)
    assert described.splitlines() == [
        f"Dynamic configs for topic {topic} are:",
        "  retention.ms=1234 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=1234}",
    ]
    changes = ("segment.ms=7000,cleanup.policy=[compact,delete]", "--delete-config", "retention.ms")
    kafka_configs("--alter", "--topic", topic, "--add-config", *changes)

    assert kafka_configs("--describe", "--topic", topic).splitlines()[1:] == [
        "  cleanup.policy=compact,delete sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:"
        "cleanup.policy=compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete}",
        "  segment.ms=7000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:segment.ms=7000}",
    ]
    everything = kafka_configs("--describe", "--topic", topic, "--all")
    assert "  segment.bytes=1073741824 sensitive=false" in everything
    assert len(everything.splitlines()) > 25


def test_a_wrong_config_is_refused(kafka_configs: Tool, topics: Topics) -> None:
    topic = topics.create()
    ran = kafka_configs.run("--alter", "--topic", topic, "--add-config", "retention.ms=soon")
    assert ran.status == 1
    assert "Invalid value soon for configuration retention.ms" in ran.stderr


def test_brokers_configs_are_shown_as_kafkas_are(kafka_configs: Tool) -> None:
    kafka_configs("--alter", "--broker", "1", "--add-config", "background.threads=7")
    described = kafka_configs("--describe", "--broker", "1")
    assert (
        "  background.threads=7 sensitive=false synonyms={DYNAMIC_BROKER_CONFIG:"
        "background.threads=7, DEFAULT_CONFIG:background.threads=10}"
    ) in described.splitlines()
    everything = kafka_configs("--describe", "--broker", "1", "--all")
    assert len(everything.splitlines()) > 200
    kafka_configs("--alter", "--broker", "1", "--delete-config", "background.threads")
    assert "background.threads" not in kafka_configs("--describe", "--broker", "1")


def test_defaults_of_all_brokers_are_shown_as_kafkas_are(kafka_configs: Tool) -> None:
    everyone = ("--entity-type", "brokers", "--entity-default")
    kafka_configs("--alter", *everyone, "--add-config", "num.io.threads=9")
    line = (
        "  num.io.threads=9 sensitive=false synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:"
        "num.io.threads=9}"
    )
    assert line in kafka_configs("--describe", *everyone).splitlines()
    kafka_configs("--alter", *everyone, "--delete-config", "num.io.threads")
    assert line not in kafka_configs("--describe", *everyone).splitlines()


def test_loggers_change_their_levels(kafka_configs: Tool) -> None:
    loggers = ("--entity-type", "broker-loggers", "--entity-name", "1")
    kafka_configs("--alter", *loggers, "--add-config", "root=WARN")
    assert "  root=WARN sensitive=false synonyms={}" in kafka_configs("--describe", *loggers)
    kafka_configs("--alter", *loggers, "--add-config", "root=INFO")


def test_log_directories_are_described(
    java: Java, node: RunningNode, topics: Topics, writer: Client
) -> None:
    topic = topics.create(partitions=2)
    writer.produce(topic, [Message(bytes(1_000), partition=1)])

    kafka_log_dirs = Tool(java, LOG_DIRS, node)
    described = json.loads(kafka_log_dirs("--describe", "--topic-list", topic).splitlines()[-1])

    ((broker),) = described["brokers"]
    ((directory),) = broker["logDirs"]
    assert (broker["broker"], directory["logDir"]) == (1, str(node.data_directory))
    sizes = {each["partition"]: each["size"] for each in directory["partitions"]}
    assert sizes[f"{topic}-0"] == 0
    assert sizes[f"{topic}-1"] > 1_000
