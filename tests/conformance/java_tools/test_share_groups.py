"""kafka-share-groups, and Java's own share consumers: console, verifiable and performance."""

from __future__ import annotations

import json

import pytest

from tests.conformance import groups
from tests.conformance.clients import Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.client import Java
from tests.conformance.java_tools.test_topics import Tool
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

admin, node = groups.admin, groups.node

pytestmark = pytest.mark.java

SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
VERIFIABLE = "org.apache.kafka.tools.VerifiableShareConsumer"
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
PERFORMANCE = "org.apache.kafka.tools.ShareConsumerPerformance"
RECORDS = 10


@pytest.fixture
def share_groups(java: Java, node: RunningNode) -> Tool:
    return Tool(java, SHARE_GROUPS, node)


@pytest.fixture
def topic(node: RunningNode, topics: Topics) -> str:
    topic = topics.create(partitions=2)
    messages = [Message(b"%d" % number, partition=number % 2) for number in range(RECORDS)]
    ConfluentClient(node.bootstrap).produce(topic, messages)
    return topic


def rows(output: str) -> list[list[str]]:
    lines = [line.split() for line in output.splitlines() if line.strip()]
    heading = next(index for index, line in enumerate(lines) if line[0] in ("GROUP", "TOPIC"))
    return lines[heading + 1 :]


def test_share_consumers_read_what_the_tool_resets_describes_and_deletes(
    java: Java, node: RunningNode, share_groups: Tool, topic: str
) -> None:
    group = f"{topic[-6:]}-sharers"
    reset = share_groups(
        "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute"
    )
    assert sorted(rows(reset)) == [[group, topic, "0", "0"], [group, topic, "1", "0"]]
    assert [group, "Empty"] in rows(share_groups("--list", "--state"))
    assert {row[-1] for row in rows(share_groups("--describe", "--group", group))} == {"5"}
    consumed = java.run_alone(
        VERIFIABLE,
        *("--bootstrap-server", node.bootstrap, "--topic", topic, "--group-id", group),
        *("--max-messages", str(RECORDS), "--acknowledgement-mode", "sync"),
    )
    events = [json.loads(line) for line in consumed.stdout.splitlines() if line.startswith("{")]
    counts = [each["count"] for each in events if each["name"] == "records_consumed"]
    assert sum(counts) == RECORDS
    assert all(each["success"] for each in events if each["name"] == "offsets_acknowledged")
    assert {row[-1] for row in rows(share_groups("--describe", "--group", group))} == {"0"}
    deleted = share_groups("--delete-offsets", "--group", group, "--topic", topic)
    assert rows(deleted) == [[topic, "Successful"]]
    assert "successful" in share_groups("--delete", "--group", group)
    assert group not in share_groups("--list")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (CONSOLE, ("--max-messages", str(RECORDS))),
        (PERFORMANCE, ("--num-records", str(RECORDS))),
    ],
)
def test_share_consumers_get_every_record(
    java: Java,
    node: RunningNode,
    share_groups: Tool,
    topic: str,
    tool: str,
    arguments: tuple[str, ...],
) -> None:
    group = f"{topic[-6:]}-{tool.rpartition('.')[2]}"
    share_groups(
        "--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute"
    )
    ran = java.run_alone(
        tool, "--bootstrap-server", node.bootstrap, "--topic", topic, "--group", group, *arguments
    )
    assert ran.status == 0, ran
    if tool == CONSOLE:
        assert sorted(ran.stdout.split()) == [str(number) for number in range(RECORDS)]
    assert {row[-1] for row in rows(share_groups("--describe", "--group", group))} == {"0"}
