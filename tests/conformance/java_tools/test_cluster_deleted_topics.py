"""Apache Kafka's tools and a topic that is deleted, restored and protected."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from ottla.cli.main import make_app
from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.nodes.cluster_processes import wait_until

pytestmark = pytest.mark.java

TOPIC = "lost-and-found"
VALUES = [f"value {number}" for number in range(20)]


def topic_id(tools: ClusterTools) -> str:
    found = re.search(r"TopicId: (\S{22})", tools("kafka-topics", "--describe", "--topic", TOPIC))
    assert found is not None
    return found[1]


def sizes_of(tools: ClusterTools, name: str) -> list[int]:
    """How large a partition's log is on each broker that has it."""
    described = json.loads(tools("kafka-log-dirs", "--describe").splitlines()[-1])
    return [
        partition["size"]
        for broker in described["brokers"]
        for directory in broker["logDirs"]
        for partition in directory["partitions"]
        if partition["partition"] == name
    ]


def ottla(tools: ClusterTools, *arguments: str) -> str:
    """What a command of `ottla topics` prints."""
    command = ["topics", *arguments, "--bootstrap", tools.bootstrap(2)]
    result = CliRunner().invoke(make_app("topics"), command)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_topic_that_kafkas_tool_deletes_comes_back(tools: ClusterTools) -> None:
    tools.create(TOPIC, [[1, 2, 3]])
    tools.produce(TOPIC, VALUES)
    before = topic_id(tools)

    tools("kafka-topics", "--delete", "--topic", TOPIC)
    assert TOPIC not in tools("kafka-topics", "--list").splitlines()
    # The brokers set their logs aside one after the other, also after the deletion is answered.
    wait_until(
        lambda: len(sizes_of(tools, f"{TOPIC}~{before}-0")) == len(tools.cluster.running_brokers),
        "all brokers show the log of the deleted topic",
    )
    assert all(size > sum(map(len, VALUES)) for size in sizes_of(tools, f"{TOPIC}~{before}-0"))

    (listed,) = (
        each
        for each in map(json.loads, ottla(tools, "deleted", "--json").splitlines())
        if each["topic"] == TOPIC
    )
    assert listed["topic_id"] == before
    assert "restored" in ottla(tools, "undelete", TOPIC)

    tools.wait_in_sync(TOPIC)
    assert topic_id(tools) == before
    assert tools.consume(TOPIC, len(VALUES)) == VALUES
    tools.produce(TOPIC, ["more"])
    assert tools.consume(TOPIC, len(VALUES) + 1) == [*VALUES, "more"]

    entity = ("--entity-type", "topics", "--entity-name", TOPIC)
    protection = "ottla.delete.protection"
    tools("kafka-configs", "--alter", *entity, "--add-config", f"{protection}=true")
    ran = tools.run("kafka-topics", "--delete", "--topic", TOPIC)
    assert ran.status == 1
    assert f"set its config {protection} to false" in ran.stdout
    tools("kafka-configs", "--alter", *entity, "--delete-config", protection)
    tools("kafka-topics", "--delete", "--topic", TOPIC)
    assert f"purged {TOPIC}~{before}" in ottla(tools, "purge", TOPIC, "--yes")
