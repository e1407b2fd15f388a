"""`ottla log-dirs`, against a node with two log directories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from tests.support.nodes.nodes import running_node


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    root = tmp_path_factory.mktemp("logs")
    return str(root / "a"), str(root / "b")


@pytest.fixture(scope="module", name="bootstrap")
def running_bootstrap(directories: tuple[str, str]) -> Iterator[str]:
    settings = {"log.dirs": ",".join(directories)}
    with running_node(Path(directories[0]).parent, settings=settings) as node:
        environment = {"OTTLA_BOOTSTRAP": node.bootstrap}
        topics = CliRunner(env=environment)
        created = topics.invoke(make_app("topics"), ["topics", "create", "orders", "-p", "2"])
        assert created.exit_code == 0, created.output
        yield node.bootstrap


def run(bootstrap: str, *arguments: str, exit_code: int = 0) -> Result:
    runner = CliRunner(env={"OTTLA_BOOTSTRAP": bootstrap, "COLUMNS": "250"})
    result = runner.invoke(make_app("log-dirs"), ["log-dirs", *arguments], catch_exceptions=False)
    assert result.exit_code == exit_code, result.output
    return result


def run_json(bootstrap: str, *arguments: str) -> list[dict[str, Any]]:
    output = run(bootstrap, *arguments, "--json").stdout
    return [json.loads(line) for line in output.splitlines()]


def places(bootstrap: str) -> dict[int, str]:
    return {
        replica["partition"]: found["directory"]
        for found in run_json(bootstrap, "describe", "--topic", "orders")
        for replica in found["replicas"]
        if not replica["is_future"]
    }


def test_directories_are_described_with_their_replicas(
    bootstrap: str, directories: tuple[str, str]
) -> None:
    found = run_json(bootstrap, "describe", "--broker", "1")
    assert tuple(each["directory"] for each in found) == directories
    assert all(each["error"] is None and each["usable_bytes"] > 0 for each in found)
    assert set(places(bootstrap)) == {0, 1}
    shown = run(bootstrap, "describe").stdout
    assert directories[1] in shown
    assert "current" in shown


def test_replicas_move_between_directories(bootstrap: str, directories: tuple[str, str]) -> None:
    for target in directories:
        moved = run_json(bootstrap, "move", "orders", "--broker", "1", "--to", target, "--wait")
        assert [each["outcome"] for each in moved] == ["moved", "moved"]
        assert set(places(bootstrap).values()) == {target}
    run(bootstrap, "move", "orders:0", "--broker", "1", "--to", directories[0], "--wait")
    assert places(bootstrap)[0] == directories[0]


def test_what_cannot_be_moved_is_refused(bootstrap: str, directories: tuple[str, str]) -> None:
    move = ("move", "orders", "--broker")
    wrong = run(bootstrap, *move, "1", "--to", "/nowhere", exit_code=2)
    assert directories[0] in wrong.stderr
    assert "no broker 9" in run(bootstrap, *move, "9", "--to", "/x", exit_code=1).stderr
    there = ("--broker", "1", "--to", directories[0])
    assert "no topic ordrs" in run(bootstrap, "move", "ordrs", *there, exit_code=1).stderr
    assert "no replica" in run(bootstrap, "move", "orders:7", *there, exit_code=1).stderr
    assert "Did you mean orders" in run(bootstrap, "describe", "-t", "ordrs", exit_code=1).stderr
