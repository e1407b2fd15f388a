"""`ottla transactions` against a node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.conformance.transactions import UNVERIFIED, leave_hanging, values
from tests.support.nodes.nodes import RunningNode, running_node


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("transactions"), settings=UNVERIFIED) as node:
        yield node


@pytest.fixture(scope="module")
def admin(node: RunningNode) -> AdminClient:
    return AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})


@pytest.fixture
def topic(topics: Topics) -> str:
    return topics.create()


@pytest.fixture
def opened(node: RunningNode, topic: str) -> Producer:
    """A producer with an open transaction, whose transactional id is the topic's name."""
    producer = ConfluentClient(node.bootstrap).producer(transactional_id=topic)
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    producer.produce(topic, "open")
    assert producer.flush(TIMEOUT_S) == 0
    return producer


class TransactionsCommand:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def run(self, *arguments: str) -> Result:
        # In this process: starting one takes longer than any of the commands.
        command = ["transactions", *arguments, "--bootstrap", self._bootstrap]
        return CliRunner().invoke(make_app("transactions"), command)

    def rows(self, *arguments: str) -> list[dict[str, Any]]:
        ran = self.run(*arguments, "--json")
        assert ran.exit_code == 0, ran.stderr
        return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.fixture
def command(node: RunningNode) -> TransactionsCommand:
    return TransactionsCommand(node.bootstrap)


def test_transactions_are_listed_and_described(
    command: TransactionsCommand, opened: Producer, topic: str
) -> None:
    (listed,) = command.rows("list", "--state", "Ongoing", "--id", topic)
    assert (listed["id"], listed["state"]) == (topic, "Ongoing")
    assert command.rows("list", "--longer-than", "1h", "--id", topic) == []
    (described,) = command.rows("describe", topic)
    assert described["partitions"] == [f"{topic}-0"]
    assert described["producer_id"] == listed["producer_id"]
    for arguments in (["list"], ["describe", topic]):
        shown = command.run(*arguments)
        assert "Ongoing" in shown.stdout, shown.stderr
    opened.commit_transaction(TIMEOUT_S)


def test_hanging_transaction_is_found_and_aborted(
    command: TransactionsCommand, node: RunningNode, opened: Producer, topic: str
) -> None:
    leave_hanging(node.bootstrap, topic)
    opened.commit_transaction(TIMEOUT_S)
    (found,) = command.rows("find-hanging", "--topic", topic)
    assert (found["topic"], found["partition"], found["producer_id"]) == (topic, 0, 4_711)
    at = ("--topic", topic, "--partition", "0", "--start-offset")
    refused = command.run("abort", *at, str(found["start_offset"] + 1))
    assert refused.exit_code == 1
    assert f"Open transactions begin at {found['start_offset']}" in refused.stderr
    ran = command.run("abort", *at, str(found["start_offset"]))
    assert ran.exit_code == 0, ran.stderr
    assert command.rows("find-hanging", "--topic", topic) == []
    ConfluentClient(node.bootstrap).produce(topic, [Message(b"after")])
    assert values(node.bootstrap, topic) == ["after", "open"]


def test_transaction_of_an_id_is_aborted_and_its_producer_fenced(
    command: TransactionsCommand, node: RunningNode, opened: Producer, topic: str
) -> None:
    ran = command.run("abort", topic)
    assert ran.exit_code == 0, ran.stderr
    with pytest.raises(KafkaException):
        opened.commit_transaction(TIMEOUT_S)
    assert values(node.bootstrap, topic) == []


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["describe", "nobody"], "There is no transactional id nobody."),
        (["abort", "nobody"], "There is no transactional id nobody."),
        (["abort", "--topic", "orders"], "Name the transaction"),
        (["list", "--state", "Sleeping"], "There is no state Sleeping."),
        (["list", "--longer-than", "long"], "is not a time"),
        (["find-hanging", "--topic", "nothing"], "There is no topic nothing."),
    ],
)
def test_mistakes_are_explained(
    command: TransactionsCommand, opened: Producer, arguments: list[str], expected: str
) -> None:
    ran = command.run(*arguments)
    assert ran.exit_code in (1, 2)
    assert expected in " ".join(ran.stderr.split())
    opened.abort_transaction(TIMEOUT_S)
