"""The tools that write, read and delete records."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conformance.clients import CODECS, EARLIEST, Client, Message
from tests.conformance.java_tools.client import Java, Ran
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

pytestmark = pytest.mark.java

PACKAGE = "org.apache.kafka.tools"
CONSOLE_PRODUCER = f"{PACKAGE}.ConsoleProducer"
CONSOLE_CONSUMER = f"{PACKAGE}.consumer.ConsoleConsumer"
GET_OFFSETS = f"{PACKAGE}.GetOffsetShell"


def console_consumer(java: Java, node: RunningNode, topic: str, *options: str) -> Ran:
    """Reads partition 0; with a partition the tool needs no group."""
    where = ("--bootstrap-server", node.bootstrap, "--topic", topic, "--partition", "0")
    return java.run(CONSOLE_CONSUMER, *where, *options)


@pytest.mark.parametrize("codec", CODECS)
def test_the_console_reads_what_it_wrote(
    java: Java, node: RunningNode, topics: Topics, codec: str
) -> None:
    topic = topics.create()
    reader = [
        f"--reader-property={each}"
        for each in ("parse.key=true", "parse.headers=true", "null.marker=NULL")
    ]
    lines = "one:1,two:2\tkey\tvalue\nNULL\tdeleted\tNULL\nNULL\tempty\t\n"
    options = ("--topic", topic, "--compression-codec", codec, *reader)
    produced = java.run(
        CONSOLE_PRODUCER, "--bootstrap-server", node.bootstrap, *options, stdin=lines
    )
    assert produced.status == 0, produced.stderr

    wanted = ("key", "headers", "partition", "offset")
    formatter = [f"--formatter-property=print.{each}=true" for each in wanted]
    limits = ("--max-messages", "3", "--timeout-ms", "10000")
    ran = console_consumer(java, node, topic, "--offset", "earliest", *limits, *formatter)

    assert ran.stdout.splitlines() == [
        "Partition:0\tOffset:0\tone:1,two:2\tkey\tvalue",
        "Partition:0\tOffset:1\tNO_HEADERS\tdeleted\tnull",
        "Partition:0\tOffset:2\tNO_HEADERS\tempty\t",
    ]
    assert "Processed a total of 3 messages" in ran.stderr


@pytest.mark.parametrize(
    ("kind", "expected"), [("CreateTime", "CreateTime:1000"), ("LogAppendTime", "LogAppendTime:1")]
)
def test_the_console_shows_the_timestamp_type(
    java: Java, node: RunningNode, topics: Topics, writer: Client, kind: str, expected: str
) -> None:
    topic = topics.create(message_timestamp_type=kind)
    writer.produce(topic, [Message(b"then", timestamp_ms=1_000)])
    options = ("--offset", "0", "--max-messages", "1", "--timeout-ms", "10000")
    ran = console_consumer(java, node, topic, *options, "--formatter-property=print.timestamp=true")
    assert ran.stdout.startswith(expected)


def test_the_console_reads_from_an_offset_and_only_what_is_committed(
    java: Java, node: RunningNode, topics: Topics, writer: Client
) -> None:
    topic = topics.create()
    writer.produce(topic, [Message(b"%d" % number) for number in range(5)])
    options = ("--offset", "3", "--max-messages", "2", "--timeout-ms", "10000")
    ran = console_consumer(java, node, topic, *options, "--isolation-level", "read_committed")
    assert ran.stdout.split() == ["3", "4"]


def test_the_producer_performance_test_runs(
    java: Java, node: RunningNode, topics: Topics, writer: Client
) -> None:
    topic = topics.create(partitions=2)
    load = ("--num-records", "2000", "--record-size", "100", "--throughput", "-1")
    settings = ("--command-property", "acks=all", "--command-property", "compression.type=lz4")
    ran = java.run(
        f"{PACKAGE}.ProducerPerformance",
        *("--bootstrap-server", node.bootstrap, "--topic", topic, *load, *settings),
    )
    assert ran.status == 0, ran.stderr
    assert re.search(r"2000 records sent, .* records/sec", ran.stdout)
    assert sum(writer.offset_for(topic, partition, -1) or 0 for partition in (0, 1)) == 2_000


def test_the_verifiable_producer_has_everything_acknowledged(
    java: Java, node: RunningNode, topics: Topics
) -> None:
    topic = topics.create()
    options = ("--topic", topic, "--max-messages", "5", "--value-prefix", "7")
    ran = java.run_alone(
        f"{PACKAGE}.VerifiableProducer", "--bootstrap-server", node.bootstrap, *options
    )
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    sent = [event for event in events if event["name"] == "producer_send_success"]
    assert [(event["value"], event["offset"]) for event in sent] == [
        (f"7.{number}", number) for number in range(5)
    ]
    assert (events[-1]["name"], events[-1]["sent"], events[-1]["acked"]) == (
        "tool_data",
        5,
        5,
    )


def test_offsets_are_listed(java: Java, node: RunningNode, topics: Topics, writer: Client) -> None:
    topic = topics.create(partitions=2)
    for timestamp_ms in (1_000, 3_000, 2_000):
        writer.produce(topic, [Message(b"then", partition=0, timestamp_ms=timestamp_ms)])

    def listed(*options: str) -> list[str]:
        ran = java.run(
            GET_OFFSETS, "--bootstrap-server", node.bootstrap, "--topic", topic, *options
        )
        assert ran.status == 0, ran.stderr
        return ran.stdout.split()

    assert listed() == [f"{topic}:0:3", f"{topic}:1:0"]
    times = {
        "earliest": [f"{topic}:0:0", f"{topic}:1:0"],
        "latest": [f"{topic}:0:3", f"{topic}:1:0"],
        "earliest-local": [f"{topic}:0:0", f"{topic}:1:0"],
        # A partition without an answer is left out.
        "max-timestamp": [f"{topic}:0:1"],
        "latest-tiered": [],
        "earliest-pending-upload": [],
        "1001": [f"{topic}:0:1"],
        "3001": [],
    }
    assert {time: listed("--time", time) for time in times} == times


def test_records_are_deleted(
    java: Java, node: RunningNode, topics: Topics, writer: Client, tmp_path: Path
) -> None:
    topic = topics.create(partitions=3)
    writer.produce(
        topic,
        [Message(b"%d" % number, partition=each) for number in range(5) for each in range(3)],
    )
    file = tmp_path / "offsets.json"
    wanted = {0: 2, 1: -1, 2: 6}
    requested = [
        {"topic": topic, "partition": partition, "offset": offset}
        for partition, offset in wanted.items()
    ]
    file.write_text(json.dumps({"version": 1, "partitions": requested}))

    ran = java.run(
        f"{PACKAGE}.DeleteRecordsCommand",
        *("--bootstrap-server", node.bootstrap, "--offset-json-file", str(file)),
    )

    assert ran.status == 0, ran.stderr
    assert f"partition: {topic}-0\tlow_watermark: 2" in ran.stdout
    assert f"partition: {topic}-1\tlow_watermark: 5" in ran.stdout
    assert f"partition: {topic}-2\terror: " in ran.stdout
    assert "OffsetOutOfRangeException" in ran.stdout
    assert [writer.offset_for(topic, partition, EARLIEST) for partition in wanted] == [2, 5, 0]


def test_a_topic_is_created_by_a_produce_request(
    java: Java, node: RunningNode, topics: Topics, writer: Client
) -> None:
    topic = topics.name()
    where = ("--bootstrap-server", node.bootstrap, "--topic", topic)
    assert java.run(CONSOLE_PRODUCER, *where, stdin="first\n").status == 0
    assert [record.value for record in writer.consume({(topic, 0): EARLIEST}, 1)] == [b"first"]


def test_a_topic_is_not_made_where_that_is_switched_off(
    java: Java, strict_node: RunningNode
) -> None:
    where = ("--bootstrap-server", strict_node.bootstrap, "--topic", "nowhere")
    ran = java.run(CONSOLE_PRODUCER, *where, "--sync", "--max-block-ms", "500", stdin="lost\n")
    assert ran.status == 1
    assert "Topic nowhere not present in metadata after 500 ms." in ran.stderr


def test_an_offset_out_of_range_is_reset(
    java: Java, node: RunningNode, topics: Topics, writer: Client
) -> None:
    topic = topics.create()
    writer.produce(topic, [Message(b"%d" % number) for number in range(3)])
    options = ("--offset", "1000", "--max-messages", "3", "--timeout-ms", "10000")
    reset = ("--command-property", "auto.offset.reset=earliest")
    assert console_consumer(java, node, topic, *options, *reset).stdout.split() == ["0", "1", "2"]
