"""`ottla groups` against a node."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from tests.conformance import groups
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

admin, node = groups.admin, groups.node

RECORDS = 10
OTTLA = Path(sys.executable).with_name("ottla")


class GroupsCommand:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(OTTLA), "groups", *arguments, "--bootstrap", self._bootstrap]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        ran = self.run(*arguments, "--json")
        assert ran.returncode == 0, ran.stderr
        return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.fixture
def command(node: RunningNode) -> GroupsCommand:
    return GroupsCommand(node.bootstrap)


@pytest.fixture
def topic(node: RunningNode, topics: Topics) -> str:
    topic = topics.create(partitions=2)
    messages = [Message(b"%d" % number, partition=number % 2) for number in range(RECORDS)]
    ConfluentClient(node.bootstrap).produce(topic, messages)
    return topic


def caught_up(node: RunningNode, topic: str, protocol: str = "classic") -> Consumer:
    consumer = ConfluentClient(node.bootstrap).consumer(
        group_id=topic, auto_offset_reset="earliest", group_protocol=protocol
    )
    consumer.subscribe([topic])
    assert len(consumer.consume(RECORDS, TIMEOUT_S)) == RECORDS
    consumer.commit(asynchronous=False)
    return consumer


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_groups_are_listed_and_described(
    command: GroupsCommand, node: RunningNode, topic: str, protocol: str
) -> None:
    consumer = caught_up(node, topic, protocol)
    ConfluentClient(node.bootstrap).produce(topic, [Message(b"more", partition=1)])
    listed = command.rows("list", "--state", "stable", "--type", protocol)
    assert {"id": topic, "type": protocol, "state": "stable"} in listed
    first, second = command.rows("describe", topic)
    assert (first["committed"], first["end"], first["lag"]) == (5, 5, 0)
    assert (second["lag"], second["member_id"]) == (1, consumer.memberid())
    (member,) = command.rows("describe", topic, "--members")
    assert member["partitions"] == [[topic, 0], [topic, 1]]
    consumer.close()


def test_offsets_are_moved_only_if_that_is_meant(
    command: GroupsCommand, node: RunningNode, topic: str
) -> None:
    consumer = caught_up(node, topic)
    busy = command.run("reset", topic, "--to", "earliest", "--execute")
    assert (busy.returncode, "Stop the members first" in busy.stderr) == (1, True)
    consumer.close()
    assert [row["new"] for row in command.rows("reset", topic, "--to", "-2")] == [3, 3]
    assert [row["committed"] for row in command.rows("describe", topic)] == [5, 5]
    command.rows("reset", topic, "--to", "1", "--topic", f"{topic}:1", "--execute")
    assert [row["committed"] for row in command.rows("describe", topic)] == [5, 1]


def test_a_group_is_deleted(command: GroupsCommand, node: RunningNode, topic: str) -> None:
    caught_up(node, topic).close()
    assert command.run("delete", topic).returncode == 0
    gone = command.run("describe", topic)
    assert (gone.returncode, "There is no group" in gone.stderr) == (1, True)
