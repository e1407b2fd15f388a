"""kafka-reassign-partitions: replicas move to other nodes, as fast as they may."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.conformance.clients import Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.java_tools.cluster import ClusterTools, write_plan
from tests.support.nodes.cluster_processes import wait_until
from tests.support.soak import at_scale

pytestmark = pytest.mark.java

REASSIGN = "kafka-reassign-partitions"
MEGABYTES = at_scale(quick=4, soak=100)
MEGABYTES_PER_SECOND = at_scale(quick=2, soak=5)
# Bytes per second: the first fetch brings a thousand times as much.
SLOW = "1000"
NOTHING_MOVES = "No partition reassignments found.\n"


def fill(tools: ClusterTools, topic: str, *, megabytes: int) -> None:
    messages = [Message(bytes(100_000), partition=0)] * (10 * megabytes)
    ConfluentClient(tools.cluster.bootstrap).produce(topic, messages)


def throttles(tools: ClusterTools, topic: str) -> list[str]:
    """The names and values of what holds replicas back, of the topic and of all brokers."""
    shown = [tools("kafka-configs", "--describe", "--topic", topic)]
    shown += [tools("kafka-configs", "--describe", "--broker", str(each)) for each in (1, 2, 3)]
    return [
        line.split()[0]
        for output in shown
        for line in output.splitlines()
        if ".replication.throttled." in line
    ]


def wait_replicas(tools: ClusterTools, topic: str, replicas: list[tuple[int, ...]]) -> None:
    """Returns when all nodes show them, in sync."""

    def are_shown() -> bool:
        views = [tools.describe("--topic", topic, via=via) for via in (1, 2, 3)]
        return all(
            [each.replicas for each in view] == replicas
            and all(set(each.isr) == set(each.replicas) for each in view)
            for view in views
        )

    wait_until(are_shown, f"{topic} has the replicas {replicas}")


def test_a_plan_is_proposed_carried_out_and_verified(tools: ClusterTools, tmp_path: Path) -> None:
    tools.create("moving", [[1, 2], [2, 3]])
    tools.produce("moving", ["a", "b", "c"])
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": "moving"}]}))
    options = ("--topics-to-move-json-file", str(topics), "--broker-list", "1,2,3")
    current, proposed = [
        json.loads(line)
        for line in tools(REASSIGN, *options, "--generate", via=2).splitlines()
        if line.startswith("{")
    ]
    assert [each["replicas"] for each in current["partitions"]] == [[1, 2], [2, 3]]
    homes = [[str(tools.cluster.nodes[each].data) for each in pair] for pair in ([1, 2], [2, 3])]
    assert [each["log_dirs"] for each in current["partitions"]] == homes
    # One replica in each rack.
    assert all(3 in each["replicas"] for each in proposed["partitions"])

    plan = write_plan(tmp_path / "plan.json", {("moving", 0): [3, 1], ("moving", 1): [1, 2, 3]})
    where = ("--reassignment-json-file", plan)
    executed = tools(REASSIGN, *where, "--execute", "--throttle", "50000000", via=3)
    assert "The inter-broker throttle limit was set to 50000000 B/s" in executed
    assert "Successfully started partition reassignments for moving-0,moving-1" in executed
    expected = {
        "follower.replication.throttled.replicas=0:3,1:1",
        "leader.replication.throttled.replicas=0:1,0:2,1:2,1:3",
        "follower.replication.throttled.rate=50000000",
        "leader.replication.throttled.rate=50000000",
    }
    wait_until(lambda: set(throttles(tools, "moving")) == expected, "the throttles are set")
    wait_until(lambda: tools(REASSIGN, "--list", via=2) == NOTHING_MOVES, "everything has moved")
    wait_replicas(tools, "moving", [(3, 1), (1, 2, 3)])
    assert tools(REASSIGN, *where, "--verify", via=1).splitlines() == [
        "Status of partition reassignment:",
        "Reassignment of partition moving-0 is completed.",
        "Reassignment of partition moving-1 is completed.",
        "",
        "Clearing broker-level throttles on brokers 1,2,3",
        "Clearing topic-level throttles on topic moving",
    ]
    wait_until(lambda: not throttles(tools, "moving"), "the throttles are gone")
    assert [each.isr for each in tools.describe("--topic", "moving")] == [(1, 3), (1, 2, 3)]
    assert not (tools.cluster.nodes[2].data / "moving-0").exists()
    none = "None of the specified partition reassignments are active."
    assert none in tools(REASSIGN, *where, "--cancel")


def test_a_throttled_move_goes_on_when_it_may_and_can_be_taken_back(
    tools: ClusterTools, tmp_path: Path
) -> None:
    tools.create("throttled", [[1, 2]])
    fill(tools, "throttled", megabytes=3)
    plan = write_plan(tmp_path / "plan.json", {("throttled", 0): [3, 2]})
    where = ("--reassignment-json-file", plan)
    moving = "throttled-0: replicas: 3,2,1. adding: 3. removing: 1."

    tools(REASSIGN, *where, "--execute", "--throttle", SLOW, via=2)
    log = tools.cluster.nodes[3].data / "throttled-0" / f"{0:020}.log"
    wait_until(lambda: log.exists() and log.stat().st_size > 0, "the first bytes are there")
    assert moving in tools(REASSIGN, "--list", via=3)
    (held_back,) = tools.describe("--topic", "throttled")
    assert held_back.isr == (1, 2)
    in_progress = "Reassignment of partition throttled-0 is still in progress."
    assert in_progress in tools(REASSIGN, *where, "--verify")
    # What is in sync is not held back.
    tools.produce("throttled", ["not slow"], via=3)

    cancelled = tools(REASSIGN, *where, "--cancel", via=2)
    assert "Successfully cancelled partition reassignment for: throttled-0" in cancelled
    wait_until(lambda: not log.exists(), "the replica that was added is gone")
    # The order stays that of the plan.
    wait_replicas(tools, "throttled", [(2, 1)])
    wait_until(lambda: not throttles(tools, "throttled"), "the throttles are gone")
    assert tools(REASSIGN, "--list") == NOTHING_MOVES

    tools(REASSIGN, *where, "--execute", "--throttle", SLOW, via=2)
    assert moving in tools(REASSIGN, "--list")
    faster = ("--additional", "--execute", "--throttle", "100000000")
    assert "was set to 100000000 B/s" in tools(REASSIGN, *where, *faster, via=3)
    wait_until(lambda: tools(REASSIGN, "--list") == NOTHING_MOVES, "it has moved", seconds_max=20)
    wait_replicas(tools, "throttled", [(3, 2)])
    assert "throttled-0 is completed" in tools(REASSIGN, *where, "--verify")


def test_a_move_is_as_fast_as_its_throttle(tools: ClusterTools, tmp_path: Path) -> None:
    size, rate = MEGABYTES * 1_000_000, MEGABYTES_PER_SECOND * 1_000_000
    tools.create("measured", [[1, 2]])
    fill(tools, "measured", megabytes=MEGABYTES)
    plan = write_plan(tmp_path / "plan.json", {("measured", 0): [2, 3]})
    where = ("--reassignment-json-file", plan)
    # The move begins while the tool still runs.
    started = time.perf_counter()
    tools(REASSIGN, *where, "--execute", "--throttle", str(rate))
    wait_until(lambda: tools(REASSIGN, "--list") == NOTHING_MOVES, "it has moved")
    seconds = time.perf_counter() - started
    # The first fetch and the last may each bring a megabyte at once; what was moved before counts.
    assert (size - 2_000_000) / rate < seconds < size / rate + 10
    wait_replicas(tools, "measured", [(2, 3)])
    tools(REASSIGN, *where, "--verify")


def test_replicas_that_there_cannot_be_are_refused(tools: ClusterTools, tmp_path: Path) -> None:
    tools.create("staying", [[1, 2]])
    plan = write_plan(tmp_path / "plan.json", {("staying", 0): [1, 7]})
    ran = tools.run(REASSIGN, "--reassignment-json-file", plan, "--execute")
    assert ran.status == 1
    assert "Unknown broker id 7" in ran.stdout
