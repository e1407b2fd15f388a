"""kafka-transactions with all it can do, and Kafka's own copier, which speaks TransactionV2."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient

from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.client import Java
from tests.conformance.java_tools.test_topics import Tool
from tests.conformance.topics import Topics
from tests.conformance.transactions import UNVERIFIED, leave_hanging, values
from tests.support.nodes.cluster_processes import wait_until
from tests.support.nodes.nodes import RunningNode, running_node

pytestmark = pytest.mark.java

TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
DUMP = "org.apache.kafka.tools.DumpLogSegments"
COPIER = "org.apache.kafka.tools.TransactionalMessageCopier"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningNode]:
    with running_node(tmp_path_factory.mktemp("transactions"), settings=UNVERIFIED) as node:
        yield node


@pytest.fixture(scope="module")
def admin(node: RunningNode) -> AdminClient:
    return AdminClient({"bootstrap.servers": node.bootstrap, "log_level": 0})


@pytest.fixture
def kafka_transactions(java: Java, node: RunningNode) -> Tool:
    return Tool(java, TRANSACTIONS, node)


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


def rows(output: str) -> list[dict[str, str]]:
    """The lines of a table, which has two spaces or tabs between columns."""
    lines = [line.split() for line in output.splitlines() if line.strip()]
    return [dict(zip(lines[0], line, strict=False)) for line in lines[1:]]


def test_open_transactions_are_listed(
    kafka_transactions: Tool, opened: Producer, topic: str
) -> None:
    listed = {row["TransactionalId"]: row for row in rows(kafka_transactions("list"))}
    assert listed[topic]["TransactionState"] == "Ongoing"
    assert topic not in kafka_transactions("list", "--duration-filter", "600000")
    found = kafka_transactions("list", "--transactional-id-pattern", ".*are-listed.*")
    assert [row["TransactionalId"] for row in rows(found)] == [topic]
    opened.abort_transaction(TIMEOUT_S)
    listed = {row["TransactionalId"]: row for row in rows(kafka_transactions("list"))}
    assert listed[topic]["TransactionState"] == "CompleteAbort"


def test_transaction_is_described_with_its_partitions(
    kafka_transactions: Tool, opened: Producer, topic: str
) -> None:
    (row,) = rows(kafka_transactions("describe", "--transactional-id", topic))
    assert row["TransactionState"] == "Ongoing"
    assert row["TopicPartitions"] == f"{topic}-0"
    assert row["TransactionTimeoutMs"] == "60000"
    opened.commit_transaction(TIMEOUT_S)


def test_producers_of_a_partition_are_described(
    kafka_transactions: Tool, opened: Producer, topic: str
) -> None:
    (row,) = rows(kafka_transactions("describe-producers", "--topic", topic, "--partition", "0"))
    assert row["CurrentTransactionStartOffset"] == "0"
    opened.commit_transaction(TIMEOUT_S)
    (row,) = rows(kafka_transactions("describe-producers", "--topic", topic, "--partition", "0"))
    assert row["CurrentTransactionStartOffset"] == "None"


def test_hanging_transaction_is_found_and_aborted(
    kafka_transactions: Tool, node: RunningNode, topic: str
) -> None:
    leave_hanging(node.bootstrap, topic)
    ConfluentClient(node.bootstrap).produce(topic, [Message(b"after")])
    assert values(node.bootstrap, topic) == []
    found = rows(kafka_transactions("find-hanging", "--topic", topic))
    assert [(row["Topic"], row["Partition"], row["ProducerId"]) for row in found] == [
        (topic, "0", "4711")
    ]
    kafka_transactions("abort", "--topic", topic, "--partition", "0", "--start-offset", "0")
    assert rows(kafka_transactions("find-hanging", "--topic", topic)) == []
    assert values(node.bootstrap, topic) == ["after"]


def test_transaction_that_is_going_on_is_not_hanging(
    kafka_transactions: Tool, opened: Producer, topic: str
) -> None:
    assert rows(kafka_transactions("find-hanging", "--topic", topic)) == []
    opened.commit_transaction(TIMEOUT_S)


def test_transaction_is_terminated_by_force(
    kafka_transactions: Tool, node: RunningNode, opened: Producer, topic: str
) -> None:
    kafka_transactions("forceTerminateTransaction", "--transactionalId", topic)
    with pytest.raises(KafkaException):
        opened.commit_transaction(TIMEOUT_S)
    assert values(node.bootstrap, topic) == []


def test_copier_copies_each_message_once(
    java: Java, kafka_transactions: Tool, node: RunningNode, topics: Topics
) -> None:
    source, target = topics.create(), topics.create()
    messages = [Message(b"%04d" % number) for number in range(1_000)]
    ConfluentClient(node.bootstrap).produce(source, messages)
    ran = java.run_alone(
        COPIER,
        *("--broker-list", node.bootstrap),
        *("--input-topic", source, "--input-partition", "0"),
        *("--output-topic", target, "--consumer-group", source),
        *("--transactional-id", source, "--transaction-size", "75"),
        "--use-group-metadata",
        "--enable-random-aborts",
    )
    assert ran.status == 0, ran.stderr
    events = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert events[-1]["remaining"] == 0
    assert values(node.bootstrap, target) == [f"{number:04}" for number in range(1_000)]
    # TransactionV2: an epoch for each transaction.
    (row,) = rows(kafka_transactions("describe", "--transactional-id", source))
    assert int(row["ProducerEpoch"]) >= 1_000 // 75


def test_kafka_reads_the_log_of_the_coordinator(
    java: Java, node: RunningNode, opened: Producer, topic: str
) -> None:
    def statuses() -> list[str]:
        dumped = ""
        for folder in sorted(node.data_directory.glob("__transaction_state-*")):
            for segment in sorted(folder.glob("*.log")):
                ran = java.run(
                    DUMP, "--transaction-log-decoder", "--print-data-log", "--files", str(segment)
                )
                assert ran.status == 0, ran.stderr
                dumped += ran.stdout
        line = rf'"transactionalId":"{topic}".*"transactionStatus":(\d)'
        return re.findall(line, dumped)

    opened.commit_transaction(TIMEOUT_S)
    # The last one follows the markers, which are written after the commit is answered.
    wait_until(lambda: statuses() == ["0", "1", "2", "4"], "the end of the transaction")
