"""kafka-reassign-partitions and kafka-log-dirs: replicas move between the directories of a node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.java_tools.client import Java
from tests.conformance.java_tools.cluster import ClusterTools
from tests.support.nodes.cluster_processes import ClusterProcesses, wait_until

pytestmark = pytest.mark.java

REASSIGN = "kafka-reassign-partitions"


@pytest.fixture
def two_directories(java: Java, tmp_path: Path) -> Iterator[ClusterTools]:
    """Two nodes with two log directories each."""
    cluster = ClusterProcesses(tmp_path, brokers=(1, 2), controllers=(1,))
    for node in cluster.brokers:
        node.configure(
            {
                "log.dirs": ",".join(map(str, directories(node.data))),
                "metadata.log.dir": str(node.data),
                "min.insync.replicas": "1",
            }
        )
    with cluster:
        yield ClusterTools(java, cluster)
    cluster.assert_no_traceback()


def directories(data: Path) -> tuple[Path, Path]:
    return data, data.with_name("more")


def where_is(tools: ClusterTools, topic: str) -> dict[int, list[tuple[str, bool]]]:
    """By node: the directories of a topic's partition, and whether it is still to be there."""
    output = tools("kafka-log-dirs", "--describe", "--topic-list", topic).splitlines()[-1]
    found: dict[int, list[tuple[str, bool]]] = {}
    for broker in json.loads(output)["brokers"]:
        for directory in broker["logDirs"]:
            assert directory["error"] is None
            for each in directory["partitions"]:
                shown = (directory["logDir"], each["isFuture"])
                found.setdefault(broker["broker"], []).append(shown)
    return found


def plan_of(path: Path, topic: str, replicas: dict[int, Path | str]) -> str:
    partition: dict[str, Any] = {
        "topic": topic,
        "partition": 0,
        "replicas": list(replicas),
        "log_dirs": [str(each) for each in replicas.values()],
    }
    path.write_text(json.dumps({"version": 1, "partitions": [partition]}))
    return str(path)


def test_replicas_move_to_the_directories_that_a_plan_names(
    two_directories: ClusterTools, tmp_path: Path
) -> None:
    tools = two_directories
    homes = {node.id: directories(node.data) for node in tools.cluster.brokers}
    tools.create("moving", [[1]])
    tools.produce("moving", [str(number) for number in range(100)])
    ((before, _),) = where_is(tools, "moving")[1]
    target = next(each for each in homes[1] if str(each) != before)

    plan = plan_of(tmp_path / "plan.json", "moving", {1: target})
    executed = tools(REASSIGN, "--reassignment-json-file", plan, "--execute")
    assert f"to {target} for replica moving-0 with broker 1" in executed

    done = "Reassignment of replica moving-0-1 completed successfully."
    wait_until(
        lambda: done in tools(REASSIGN, "--reassignment-json-file", plan, "--verify"), "it moved"
    )
    assert where_is(tools, "moving") == {1: [(str(target), False)]}

    chosen = homes[2][1]
    plan = plan_of(tmp_path / "onto-another.json", "moving", {2: chosen})
    tools(REASSIGN, "--reassignment-json-file", plan, "--execute")
    wait_until(lambda: where_is(tools, "moving") == {2: [(str(chosen), False)]}, "it moved")
    offsets = tools("kafka-get-offsets", "--topic", "moving")
    assert offsets.strip() == "moving:0:100"
