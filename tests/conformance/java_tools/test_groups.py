"""kafka-consumer-groups and kafka-groups, and Java's own consumers in groups of both protocols."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.client import Java
from tests.conformance.java_tools.test_topics import Tool
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

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


def test_offsets_are_written_to_a_file_and_reset_from_it(
    consumer_groups: Tool, node: RunningNode, topic: str, tmp_path: Path
) -> None:
    names = [f"{topic}-first", f"{topic}-second"]
    for name in names:
        member_of(node, name, topic, "classic").close()
    reset = ("--reset-offsets", *(each for name in names for each in ("--group", name)))
    exported = consumer_groups(*reset, "--all-topics", "--to-offset", "2", "--export", "--dry-run")
    lines = sorted(line for line in exported.splitlines() if topic in line)
    assert lines == sorted(f'"{name}","{topic}",{index},2' for name in names for index in (0, 1))
    plan = tmp_path / "offsets.csv"
    plan.write_text("\n".join(lines))
    consumer_groups(*reset, "--from-file", str(plan), "--execute")
    for name in names:
        described = consumer_groups("--describe", "--group", name, "--offsets", "--verbose")
        # The leader's epoch, which a file does not have, comes before the offset.
        assert [row[3:5] for row in rows(described)] == [["-", "2"]] * 2
    deleted = consumer_groups("--delete", "--group", names[0], "--group", names[1])
    assert "successful" in deleted


def test_all_groups_are_deleted_at_once(
    consumer_groups: Tool, node: RunningNode, topic: str
) -> None:
    names = {f"{topic}-first", f"{topic}-second"}
    for name in names:
        member_of(node, name, topic, "consumer").close()

    deleted = consumer_groups("--delete", "--all-groups", "--timeout", "20000")

    assert all(f"'{name}'" in deleted for name in names)
    assert "successful" in deleted
    assert not names & set(consumer_groups("--list", "--timeout", "20000").splitlines())


def test_groups_are_listed_by_state_and_type(
    consumer_groups: Tool, node: RunningNode, topic: str
) -> None:
    stable = member_of(node, f"{topic}-stable", topic, "consumer")
    member_of(node, f"{topic}-empty", topic, "classic").close()
    listed = consumer_groups("--list", "--state", "--type")
    kinds = {words[0]: words[1:] for line in listed.splitlines() if (words := line.split())}
    assert kinds[f"{topic}-stable"] == ["Consumer", "Stable"]
    assert kinds[f"{topic}-empty"] == ["Classic", "Empty"]
    for filters, name in ((("--state", "Empty"), "empty"), (("--type", "consumer"), "stable")):
        only = consumer_groups("--list", *filters)
        mine = {line.split()[0] for line in only.splitlines() if topic in line}
        assert mine == {f"{topic}-{name}"}
    everything = consumer_groups("--describe", "--all-groups", "--state", "--verbose")
    assert f"{topic}-stable" in everything
    assert f"{topic}-empty" in everything
    assert consumer_groups.run("--validate-regex", "^orders.*").status == 0
    stable.close()


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
    classic, consumer = {f"{topic}-classic": "Classic"}, {f"{topic}-consumer": "Consumer"}
    both = {**classic, **consumer}
    expected: dict[tuple[str, ...], dict[str, str]] = {
        (): both,
        ("--consumer",): both,
        ("--protocol", "consumer"): both,
        ("--group-type", "classic"): classic,
        ("--group-type", "consumer"): consumer,
        ("--share",): {},
        ("--streams",): {},
    }
    for filters, kinds in expected.items():
        listed = Tool(java, GROUPS, node)("--list", *filters)
        mine = [line.split() for line in listed.splitlines() if line.startswith(topic)]
        assert {words[0]: words[1] for words in mine} == kinds, filters
    for member in members:
        member.close()


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
