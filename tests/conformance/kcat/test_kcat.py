"""What people do with kcat."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conformance.clients import Client, Message
from tests.conformance.kcat.client import KcatClient
from tests.conformance.kcat.client import kcat as run
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

RECORDS = 10
# At the end it would wait that long for more.
HURRY = ("-q", "-e", "-X", "fetch.wait.max.ms=20")


@pytest.fixture
def topic(topics: Topics, writer: Client) -> str:
    topic = topics.create()
    messages = [
        Message(b"%d" % number, b"k", timestamp_ms=1_000 + number) for number in range(RECORDS)
    ]
    writer.produce(topic, messages)
    return topic


def values(kcat: KcatClient, topic: str, *options: str) -> list[str]:
    ran = run(kcat.bootstrap, "-C", "-t", topic, *HURRY, *options)
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout.decode().split()


def test_it_lists_the_cluster(kcat: KcatClient, topics: Topics) -> None:
    topic = topics.create(partitions=2)
    listed: dict[str, Any] = json.loads(run(kcat.bootstrap, "-L", "-J").stdout)

    assert [broker["name"] for broker in listed["brokers"]] == [kcat.bootstrap]
    assert listed["controllerid"] == 1
    (found,) = [each for each in listed["topics"] if each["topic"] == topic]
    assert [each["partition"] for each in found["partitions"]] == [0, 1]
    assert {each["leader"] for each in found["partitions"]} == {1}


def test_it_produces_lines(kcat: KcatClient, topics: Topics) -> None:
    topic = topics.create()
    lines = b"".join(b"%d:line %d\n" % (number, number) for number in range(1_000))
    ran = run(kcat.bootstrap, "-P", "-t", topic, "-K:", "-z", "gzip", stdin=lines)
    assert ran.returncode == 0, ran.stderr.decode()

    assert values(kcat, topic, "-f", "%k\n") == [str(number) for number in range(1_000)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-o", "beginning"], range(RECORDS)),
        (["-o", "7"], range(7, RECORDS)),
        (["-o", "-2"], range(RECORDS - 2, RECORDS)),
        (["-o", "s@1004"], range(4, RECORDS)),
        (["-o", "s@1002", "-o", "e@1005"], range(2, 5)),
        (["-o", "beginning", "-c", "3"], range(3)),
    ],
)
def test_it_starts_at_the_given_offset(
    kcat: KcatClient, topic: str, options: list[str], expected: range
) -> None:
    found = values(kcat, topic, "-p", "0", *options)
    assert found == [str(number) for number in expected]


@pytest.mark.parametrize(
    ("config", "expected"), [("CreateTime", "create"), ("LogAppendTime", "logappend")]
)
def test_it_shows_the_timestamp_type(
    kcat: KcatClient, topics: Topics, config: str, expected: str
) -> None:
    topic = topics.create(message_timestamp_type=config)
    kcat.produce(topic, [Message(b"v", b"k", headers=(("name", b"value"), ("null", None)))])
    ran = run(kcat.bootstrap, "-C", "-t", topic, *HURRY, "-o", "beginning", "-J")

    record = json.loads(ran.stdout)

    assert record["tstype"] == expected
    assert record["headers"] == ["name", "value", "null", None]
    assert (record["key"], record["payload"]) == ("k", "v")


def test_it_makes_a_topic_by_producing(kcat: KcatClient, topics: Topics) -> None:
    topic = topics.name()
    kcat.produce(topic, [Message(b"first", b"")])
    assert values(kcat, topic, "-o", "beginning") == ["first"]


def test_it_says_that_a_topic_is_not_there(kcat: KcatClient, strict_node: RunningNode) -> None:
    ran = run(strict_node.bootstrap, "-C", "-t", "nowhere", *HURRY)
    assert ran.returncode == 1
    assert "Broker: Unknown topic or partition" in ran.stderr.decode()
