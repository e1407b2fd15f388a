"""kafka-metadata-quorum, kafka-cluster and kafka-features, asked of brokers and of controllers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ottla.controller.formatting import format_node
from ottla.model import NodeId
from ottla.raft.voters import NO_VOTERS
from ottla.runtime.dice import SystemDice
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_disk import SystemDisk
from ottla.storage.directories.meta_properties import read_meta_properties
from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.nodes.cluster_processes import (
    PORTS_PER_NODE,
    NodeOfCluster,
    free_ports,
    wait_until,
)
from tests.support.nodes.node_listeners import HOST

pytestmark = pytest.mark.java

QUORUM = "kafka-metadata-quorum"
EVERYONE = (1, 2, 3)


def status(output: str) -> dict[str, str]:
    return dict(re.findall(r"^(\w+):\s+(.+)$", output, re.MULTILINE))


def voters(output: str) -> list[int]:
    return [each["id"] for each in json.loads(status(output)["CurrentVoters"])]


def test_every_node_describes_the_quorum(tools: ClusterTools) -> None:
    outputs = [tools(QUORUM, "describe", "--status", via=via) for via in EVERYONE]
    outputs += [tools.at_controller(QUORUM, "describe", "--status", via=via) for via in EVERYONE]
    described = [status(each) for each in outputs]
    assert {each["LeaderId"] for each in described} < {"1", "2", "3"}
    assert (
        len({(each["ClusterId"], each["LeaderId"], each["LeaderEpoch"]) for each in described}) == 1
    )
    assert all(int(each["HighWatermark"]) > 0 for each in described)
    assert json.loads(described[0]["CurrentVoters"])[2]["endpoints"] == [
        f"CONTROLLER://{HOST}:{tools.cluster.nodes[3].controller_port}"
    ]
    assert all(each["CurrentObservers"] == "[]" for each in described)


def test_replicas_of_the_metadata_are_shown_with_their_lag(tools: ClusterTools) -> None:
    for via in EVERYONE:
        output = tools(QUORUM, "describe", "--replication", via=via)
        heading, *rows = [line.split() for line in output.splitlines()]
        assert heading == [
            *("NodeId", "DirectoryId", "LogEndOffset", "Lag"),
            *("LastFetchTimestamp", "LastCaughtUpTimestamp", "Status"),
        ]
        assert sorted(row[0] for row in rows) == ["1", "2", "3"]
        assert sorted(row[-1] for row in rows) == ["Follower", "Follower", "Leader"]
    output = tools.at_controller(QUORUM, "describe", "--replication", "--human-readable", via=2)
    assert output.count("ms ago") == 6


@contextmanager
def fourth_controller(tools: ClusterTools, scratch: Path) -> Iterator[NodeOfCluster]:
    """A controller that watches until it is made a voter."""
    ports = free_ports(PORTS_PER_NODE)
    node = NodeOfCluster(4, scratch / "node-4", ports)
    node.data.mkdir(parents=True)
    known = read_meta_properties(SystemDisk(), str(tools.cluster.nodes[1].data))
    assert known is not None
    format_node(
        SystemDisk(),
        [str(node.data)],
        metadata_path=str(node.data),
        cluster_id=known.cluster_id,
        node_id=NodeId(4),
        voters=NO_VOTERS,
        dice=SystemDice(),
        now_ms=SystemClock().now_ms(),
    )
    listener = f"CONTROLLER://{HOST}:{node.controller_port}"
    others = [f"{HOST}:{each.controller_port}" for each in tools.cluster.brokers]
    node.configure(
        {
            "process.roles": "controller",
            "node.id": "4",
            "listeners": listener,
            "advertised.listeners": listener,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.bootstrap.servers": ",".join(others),
            "log.dirs": str(node.data),
        }
    )
    node.start()
    try:
        node.wait_ready()
        yield node
        node.stop()
    finally:
        node.end_by_force()


def directory_id(node: NodeOfCluster) -> str:
    text = (node.data / "meta.properties").read_text()
    found = re.search(r"^directory.id=(.+)$", text, re.MULTILINE)
    assert found is not None
    return found[1]


def refusal(tools: ClusterTools, *arguments: str, via: int) -> str:
    """What is said by a leader that may have been elected a moment ago."""
    outputs: list[str] = []

    def is_committed() -> bool:
        ran = tools.run(QUORUM, *arguments, via=via)
        assert ran.status == 1
        outputs.append(ran.stderr)
        return "has not committed in its epoch: try again" not in ran.stderr

    wait_until(is_committed, "the new leader has committed in its epoch")
    return outputs[-1]


def leader(tools: ClusterTools) -> int:
    return int(status(tools(QUORUM, "describe", "--status"))["LeaderId"])


def test_voters_are_added_and_removed_the_active_controller_too(
    tools: ClusterTools, tmp_path: Path
) -> None:
    nodes = dict(tools.cluster.nodes)

    def remove(node_id: int) -> tuple[str, ...]:
        key = ("--controller-id", str(node_id), "--controller-directory-id")
        return ("remove-controller", *key, directory_id(nodes[node_id]))

    def add(node_id: int) -> tuple[str, ...]:
        return ("--command-config", str(nodes[node_id].properties), "add-controller")

    with fourth_controller(tools, tmp_path) as fourth:
        nodes[4] = fourth

        def is_observer(node_id: int) -> bool:
            output = tools(QUORUM, "describe", "--replication", via=2)
            rows = [line.split() for line in output.splitlines()]
            return [str(node_id), "0", "Observer"] in [[row[0], row[3], row[-1]] for row in rows]

        wait_until(lambda: is_observer(4), "the new controller has caught up")
        assert tools(QUORUM, *add(4)).startswith("Added controller 4 with directory id")
        assert voters(tools.at_controller(QUORUM, "describe", "--status", via=2)) == [1, 2, 3, 4]
        again = tools.run(QUORUM, *add(4))
        assert again.status == 1
        assert "DuplicateVoterException" in again.stderr
        assert len(tools.at_controller("kafka-cluster", "list-endpoints").splitlines()) == 5

        # It answers until the others have taken over, and goes on as a broker.
        deposed = leader(tools)
        via = min({1, 2, 3} - {deposed})
        assert f"controller {deposed}" in tools.at_controller(QUORUM, *remove(deposed), via=via)
        left = [each for each in (1, 2, 3, 4) if each != deposed]
        assert voters(tools.at_controller(QUORUM, "describe", "--status", via=via)) == left
        assert "VoterNotFoundException" in refusal(tools, *remove(deposed), via=via)
        tools("kafka-topics", "--list", via=deposed)

        wait_until(lambda: is_observer(deposed), "the deposed one has caught up")
        tools(QUORUM, *add(deposed), via=via)
        tools(QUORUM, *remove(4), via=via)
        assert voters(tools(QUORUM, "describe", "--status", via=via)) == [1, 2, 3]


def test_controllers_answer_for_the_cluster(tools: ClusterTools) -> None:
    ids = {tools("kafka-cluster", "cluster-id", via=via) for via in EVERYONE}
    ids |= {tools.at_controller("kafka-cluster", "cluster-id", via=via) for via in EVERYONE}
    assert len(ids) == 1
    listed = tools.at_controller("kafka-cluster", "list-endpoints", via=2).splitlines()[1:]
    assert [line.split() for line in listed if not line.startswith("4")] == [
        [str(node.id), HOST, str(node.controller_port), "null", "controller"]
        for node in tools.cluster.brokers
    ]
    features = tools.at_controller("kafka-features", "describe", via=3)
    assert re.search(r"metadata.version .* FinalizedVersionLevel: 4.3-IV0", features)
    dry = ("upgrade", "--feature", "group.version=1", "--dry-run")
    for via in EVERYONE:
        output = tools.at_controller("kafka-features", *dry, via=via)
        assert output == "group.version can be upgraded to 1.\n"


def test_a_dead_broker_is_fenced_and_can_be_unregistered(tools: ClusterTools) -> None:
    def endpoints(*options: str) -> list[list[str]]:
        output = tools("kafka-cluster", "list-endpoints", *options, via=1)
        return [[row[0], row[4]] for row in map(str.split, output.splitlines()[1:])]

    alive = [["1", "unfenced"], ["2", "unfenced"]]
    with tools.without(tools.cluster.nodes[3]):
        wait_until(lambda: endpoints() == alive, "the dead broker is not offered any more")
        assert endpoints("--include-fenced-brokers") == [*alive, ["3", "fenced"]]
        tools("kafka-cluster", "unregister", "--id", "3", via=2)
        wait_until(lambda: endpoints("--include-fenced-brokers") == alive, "it is forgotten")
        again = tools.run("kafka-cluster", "unregister", "--id", "3", via=2)
        assert again.status == 1
        assert "BrokerIdNotRegisteredException" in again.stderr
    wait_until(lambda: endpoints() == [*alive, ["3", "unfenced"]], "it is offered again")
