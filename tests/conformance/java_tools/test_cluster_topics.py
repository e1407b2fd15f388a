"""kafka-topics and its like on three nodes, one of which dies."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from ottla.cli.main import make_app
from tests.conformance.java_tools.cluster import ClusterTools, Described
from tests.support.nodes.cluster_processes import wait_until

pytestmark = pytest.mark.java

EVERYONE = (1, 2, 3)


def test_the_isr_changes_when_a_broker_dies_and_comes_back(tools: ClusterTools) -> None:
    factor = ("--partitions", "6", "--replication-factor", "3")
    assert "Created topic events." in tools(
        "kafka-topics", "--create", "--topic", "events", *factor, via=1
    )
    tools.wait_in_sync("events")
    described = tools.describe("--topic", "events", via=2)
    assert [each.partition for each in described] == list(range(6))
    assert all(sorted(each.replicas) == [1, 2, 3] for each in described)
    # One rack has one node, which therefore leads more.
    assert 3 in {each.leader for each in described}
    assert in_sync_by_ottla(tools, via=3) == [list(EVERYONE)] * 6
    tools.create("lonely", [[3]])

    with tools.without(tools.cluster.nodes[3]):
        tools.wait_isr("events", (1, 2))
        for via in (1, 2):
            described = tools.describe("--topic", "events", via=via)
            assert {each.leader for each in described} <= {1, 2}
            trouble = tools.describe("--topic", "events", "--under-replicated-partitions", via=via)
            assert trouble == described
            assert in_sync_by_ottla(tools, via=via) == [[1, 2]] * 6
        assert tools.describe("--topic", "events", "--at-min-isr-partitions") == described
        # The only replica may lead again as soon as it is back (KIP-966).
        lonely = Described("lonely", 0, leader=None, replicas=(3,), isr=(), eligible=(3,))
        assert tools.describe("--unavailable-partitions", via=2) == [lonely]
        assert tools.describe("--topic", "lonely", "--under-min-isr-partitions") == [lonely]
        tools.produce("events", ["while one is gone"], via=2)

    assert not tools.describe("--under-replicated-partitions", via=3)
    assert not tools.describe("--unavailable-partitions", via=1)
    assert in_sync_by_ottla(tools, via=3) == [list(EVERYONE)] * 6
    tools.wait_in_sync("lonely")


def in_sync_by_ottla(tools: ClusterTools, *, via: int) -> list[list[int]]:
    """What `ottla topics describe` says."""
    arguments = ["topics", "describe", "events", "--json", "--bootstrap", tools.bootstrap(via)]
    result = CliRunner().invoke(make_app("topics"), arguments)
    assert result.exit_code == 0, result.output
    topic = json.loads(result.stdout)
    return [sorted(each["in_sync"]) for each in topic["partitions"]]


def test_replicas_are_spread_over_racks(tools: ClusterTools) -> None:
    options = ("--partitions", "8", "--replication-factor", "2")
    tools("kafka-topics", "--create", "--topic", "spread", *options, via=2)
    tools.wait_in_sync("spread")
    described = tools.describe("--topic", "spread")
    # Nodes 1 and 2 are in one rack.
    assert all(3 in each.replicas for each in described)
    assert {1, 2} <= {replica for each in described for replica in each.replicas}
    tools("kafka-topics", "--alter", "--topic", "spread", "--partitions", "10", via=3)
    wait_until(lambda: len(tools.describe("--topic", "spread", via=2)) == 10, "it has grown")
    assert all(3 in each.replicas for each in tools.describe("--topic", "spread", via=2))


def test_more_replicas_than_brokers_are_refused(tools: ClusterTools) -> None:
    options = ("--partitions", "1", "--replication-factor", "4")
    ran = tools.run("kafka-topics", "--create", "--topic", "wide", *options, via=2)
    assert ran.status == 1
    assert "Unable to replicate the partition 4 time(s)" in ran.stdout
    assert "only 3 broker(s) are registered" in ran.stdout


def test_every_node_returns_its_versions_and_log_directories(tools: ClusterTools) -> None:
    output = tools("kafka-broker-api-versions", via=2)
    nodes = re.findall(r"^\S+ \(id: (\d) rack: (\w) isFenced: false\) -> \($", output, re.MULTILINE)
    assert sorted(nodes) == [("1", "a"), ("2", "a"), ("3", "b")]

    tools.create("stored", [[2, 3]])
    options = ("--describe", "--topic-list", "stored", "--broker-list", "1,2,3")
    described = json.loads(tools("kafka-log-dirs", *options).splitlines()[-1])
    found = {
        broker["broker"]: (directory["logDir"], [each["partition"] for each in partitions])
        for broker in described["brokers"]
        for directory in broker["logDirs"]
        for partitions in [directory["partitions"]]
    }
    assert found == {
        node.id: (str(node.data), ["stored-0"] if node.id in (2, 3) else [])
        for node in tools.cluster.brokers
    }


def test_records_are_written_and_read_through_any_node(tools: ClusterTools) -> None:
    tools.create("shared", [[1, 2, 3], [2, 3, 1], [3, 1, 2]])
    for via in EVERYONE:
        tools.produce("shared", [f"{via}-{number}" for number in range(3)], via=via)
    for via in EVERYONE:
        output = tools("kafka-get-offsets", "--topic", "shared", via=via).split()
        ends = [int(each.rpartition(":")[2]) for each in output]
        assert sum(ends) == 9
        read = [
            value
            for partition, end in enumerate(ends)
            for value in (tools.consume("shared", end, partition=partition, via=via) if end else [])
        ]
        assert sorted(read) == [f"{via}-{number}" for via in EVERYONE for number in range(3)]
