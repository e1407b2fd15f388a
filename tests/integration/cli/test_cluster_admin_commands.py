"""The commands of operators, against three nodes in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from ottla.runtime.system_clock import SystemClock, sleep_blocking
from ottla.testing import Cluster

WAIT_SECONDS = 30.0


class Operator:
    """`ottla` against a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def run(self, *arguments: str, exit_code: int = 0) -> Result:
        runner = CliRunner(env={"OTTLA_BOOTSTRAP": self.cluster.bootstrap, "COLUMNS": "120"})
        result = runner.invoke(make_app(arguments[0]), arguments, catch_exceptions=False)
        assert result.exit_code == exit_code, result.output
        return result

    def json(self, *arguments: str, exit_code: int = 0) -> list[dict[str, Any]]:
        output = self.run(*arguments, "--json", exit_code=exit_code).stdout
        return [json.loads(line) for line in output.splitlines()]

    def status(self) -> dict[str, Any]:
        result = CliRunner(env={"OTTLA_BOOTSTRAP": self.cluster.bootstrap}).invoke(
            make_app("cluster"), ["cluster", "status", "--json"], catch_exceptions=False
        )
        found: dict[str, Any] = json.loads(result.stdout)
        assert result.exit_code == (0 if found["is_well"] else 1)
        return found

    def wait(self, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        clock = SystemClock()
        deadline = clock.monotonic() + WAIT_SECONDS
        while not holds(status := self.status()):
            assert clock.monotonic() < deadline, status
            sleep_blocking(0.05)
        return status


@pytest.fixture(scope="module")
def operator() -> Iterator[Operator]:
    with Cluster(nodes=3) as cluster:
        cluster.create_topic("orders", partitions=3)
        yield Operator(cluster)


def test_status_shows_brokers_controllers_and_leaders(operator: Operator) -> None:
    status = operator.wait(lambda found: bool(found["is_well"]))
    assert [broker["id"] for broker in status["brokers"]] == [1, 2, 3]
    assert sum(broker["leads"] for broker in status["brokers"]) == 3
    assert {broker["replicas"] for broker in status["brokers"]} == {3}
    assert [broker["lag"] for broker in status["brokers"]] == [0, 0, 0]
    roles = [controller["role"] for controller in status["controllers"]]
    assert sorted(roles) == ["leader", "voter", "voter"]
    shown = operator.run("cluster", "status").stdout
    assert "3 of 3 brokers serving, 3 partitions, all in sync" in shown


def test_status_shows_what_a_lost_node_leaves_behind(operator: Operator) -> None:
    operator.cluster.kill(3)
    try:
        status = operator.wait(lambda found: len(found["under_replicated"]) == 3)
        assert not status["is_well"]
        shown = operator.run("cluster", "status", exit_code=1).stdout
        assert "2 of 3 brokers serving" in shown
        assert "orders-2" in shown
    finally:
        operator.cluster.restart(3)
    operator.wait(lambda found: bool(found["is_well"]))


def test_quorum_status_shows_who_leads(operator: Operator) -> None:
    (quorum,) = operator.json("quorum", "status")
    assert quorum["leader"] in (1, 2, 3)
    assert [replica["node"] for replica in quorum["replicas"]] == [1, 2, 3]
    assert "high watermark" in operator.run("quorum", "status").stdout


def test_partitions_move_and_come_back(operator: Operator, tmp_path: Path) -> None:
    operator.cluster.create_topic("moving", partitions=2)
    plan, back = tmp_path / "plan.json", tmp_path / "back.json"
    generate = ("reassign", "generate", "-t", "moving", "--brokers", "1,2", "-r", "2")
    plan.write_text(operator.run(*generate).stdout)
    back.write_text(operator.run("reassign", "execute", str(plan)).stdout)
    operator.run("reassign", "verify", str(plan), "--wait")
    operator.run("reassign", "execute", str(back), "--throttle", "50000000", "--json")
    states = operator.json("reassign", "verify", str(back), "--wait")
    assert [state["state"] for state in states] == ["done", "done"]
    assert "throttled" not in operator.run("configs", "describe", "--broker", "1").stdout
    assert operator.json("reassign", "list") == []
    operator.run("reassign", "cancel")
    operator.run("reassign", "verify", str(plan), exit_code=1)


def test_what_cannot_move_says_why(operator: Operator, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text('{"partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 9]}]}')
    refused = operator.run("reassign", "execute", str(plan), exit_code=1)
    assert "INVALID_REPLICA_ASSIGNMENT" in refused.stderr
    plan.write_text('{"partitions": [{"topic": "none", "partition": 0, "replicas": [1]}]}')
    assert (
        "no partition none-0" in operator.run("reassign", "execute", str(plan), exit_code=1).stderr
    )
    plan.write_text("{}")
    assert "not a plan" in operator.run("reassign", "execute", str(plan), exit_code=2).stderr
    few = operator.run("reassign", "generate", "--brokers", "1", "-t", "orders", exit_code=2)
    assert "needs as many brokers" in few.stderr
    unknown = operator.run("reassign", "generate", "--brokers", "1,9", exit_code=1)
    assert "no live broker 9" in unknown.stderr


def test_leaders_are_elected_where_that_is_needed(operator: Operator) -> None:
    outcomes = operator.json("elect", "--topic", "orders")
    assert {outcome["outcome"] for outcome in outcomes} <= {"elected", "not needed"}
    assert "not needed" in operator.run("elect", "-t", "orders").stderr
    assert "no topic" in operator.run("elect", "-t", "ordrs", exit_code=1).stderr
    assert "no partition 7" in operator.run("elect", "-t", "orders", "-p", "7", exit_code=1).stderr
    operator.run("elect", exit_code=2)
    operator.run("elect", "--all", "--topic", "orders", exit_code=2)


def test_a_voter_has_to_be_named_whole(operator: Operator) -> None:
    assert "Name the controller" in operator.run("quorum", "add", exit_code=2).stderr
    assert "is not a controller" in operator.run("quorum", "add", "4@host", exit_code=2).stderr
    assert "is not a voter" in operator.run("quorum", "remove", "9", exit_code=1).stderr


def test_an_unreachable_cluster_is_reported_at_once() -> None:
    runner = CliRunner(env={"OTTLA_BOOTSTRAP": "127.0.0.1:1"})
    result = runner.invoke(make_app("quorum"), ["quorum", "status"])
    assert result.exit_code == 3
    assert "connection refused" in result.stderr
