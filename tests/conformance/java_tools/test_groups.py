"""kafka-consumer-groups and kafka-groups, and Java's own consumers in groups of both protocols."""

from __future__ import annotations

import re

import pytest
from confluent_kafka import Consumer

from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.client import Java
from tests.conformance.java_tools.test_topics import Tool
from tests.conformance.topics import Topics
from tests.nodes import RunningNode

admin, node = groups.admin, groups.node

pytestmark = pytest.mark.java

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
GROUPS = "org.apache.kafka.tools.GroupsCommand"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
RECORDS = 10


@pytest.fixture
def consumer_groups(java: Java, node: RunningNode) -> Tool:
    return Tool(java, CONSUMER_GROUPS, node)


@pytest.fixture
def topic(node: RunningNode, topics: Topics) -> str:
    topic = topics.create(partitions=2)
    messages = [Message(b"%d" % number, partition=number % 2) for number in range(RECORDS)]
    ConfluentClient(node.bootstrap).produce(topic, messages)
    return topic


def member_of(node: RunningNode, group: str, topic: str, protocol: str) -> Consumer:
    """A consumer that has read everything and committed that."""
    consumer = ConfluentClient(node.bootstrap).consumer(
        group_id=group, auto_offset_reset="earliest", group_protocol=protocol
    )
    consumer.subscribe([topic])
    assert len(consumer.consume(RECORDS, TIMEOUT_S)) == RECORDS
    consumer.commit(asynchronous=False)
    return consumer


def rows(output: str) -> list[list[str]]:
    lines = [line.split() for line in output.splitlines() if line.strip()]
    heading = next(index for index, line in enumerate(lines) if line[0] == "GROUP")
    return lines[heading + 1 :]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_are_described_with_their_lag_and_members(
    consumer_groups: Tool, node: RunningNode, topic: str, protocol: str
) -> None:
    group = f"{topic}-described"
    consumer = member_of(node, group, topic, protocol)
    ConfluentClient(node.bootstrap).produce(topic, [Message(b"more", partition=0)])

    assert group in consumer_groups("--list").splitlines()
    described = rows(consumer_groups("--describe", "--group", group))
    assert [row[:6] for row in sorted(described)] == [
        [group, topic, "0", "5", "6", "1"],
        [group, topic, "1", "5", "5", "0"],
    ]
    ((_, member_id, *_),) = rows(consumer_groups("--describe", "--group", group, "--members"))
    assert member_id == consumer.memberid()
    state = consumer_groups("--describe", "--group", group, "--state")
    assert "Stable" in state
    verbose = consumer_groups("--describe", "--group", group, "--members", "--verbose")
    assert f"{topic}" in verbose
    consumer.close()


def test_offsets_are_reset_deleted_and_the_group_with_them(
    consumer_groups: Tool, node: RunningNode, topic: str
) -> None:
    group = f"{topic}-reset"
    member_of(node, group, topic, "classic").close()
    reset = ("--reset-offsets", "--group", group, "--topic", topic)

    dry = consumer_groups(*reset, "--to-earliest", "--dry-run")
    assert [row[3] for row in rows(dry)] == ["0", "0"]
    for how, offset in (
        (("--to-offset", "3"), "3"),
        (("--shift-by", "1"), "4"),
        (("--to-latest",), "5"),
        (("--to-earliest",), "0"),
        (("--to-datetime", "2000-01-01T00:00:00.000"), "0"),
        (("--by-duration", "P1D"), "0"),
        (("--to-current",), "0"),
    ):
        assert [row[3] for row in rows(consumer_groups(*reset, *how, "--execute"))] == [offset] * 2
    deleted = consumer_groups("--delete-offsets", "--group", group, "--topic", f"{topic}:0")
    assert "Successful" in deleted
    left = rows(consumer_groups("--describe", "--group", group))
    assert [row[2] for row in left if row[3] != "-"] == ["1"]
    assert "deletion" in consumer_groups("--delete", "--group", group).lower()
    assert group not in consumer_groups("--list").splitlines()


def test_a_group_with_members_is_not_reset(
    consumer_groups: Tool, node: RunningNode, topic: str
) -> None:
    group = f"{topic}-busy"
    consumer = member_of(node, group, topic, "classic")
    ran = consumer_groups.run(
        "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute"
    )
    consumer.close()
    assert re.search("inactive|Stable", ran.stdout + ran.stderr)


def test_groups_of_both_types_are_listed(java: Java, node: RunningNode, topic: str) -> None:
    members = [
        member_of(node, f"{topic}-{protocol}", topic, protocol)
        for protocol in ("classic", "consumer")
    ]
    listed = Tool(java, GROUPS, node)("--list")
    for consumer in members:
        consumer.close()
    kinds = {words[0]: words[1] for line in listed.splitlines() if (words := line.split())}
    assert kinds[f"{topic}-classic"] == "Classic"
    assert kinds[f"{topic}-consumer"] == "Consumer"


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_javas_consumers_consume_in_groups(
    java: Java, node: RunningNode, topic: str, protocol: str
) -> None:
    group = f"{topic}-java"
    arguments = (
        *("--bootstrap-server", node.bootstrap),
        *("--topic", topic, "--group", group),
        *("--from-beginning", "--timeout-ms", "10000", "--max-messages", str(RECORDS)),
        *("--command-property", f"group.protocol={protocol}"),
    )
    ran = java.run_alone(CONSOLE_CONSUMER, *arguments)
    assert sorted(map(int, ran.stdout.split())) == list(range(RECORDS)), ran.stderr
    described = Tool(java, CONSUMER_GROUPS, node)("--describe", "--group", group)
    assert [row[5] for row in rows(described)] == ["0", "0"]
