"""`ottla pipelines deploy`, `list`, `status` ...: what they print of a supervisor's answers."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from tests.support.supervisor.place import Place
from tests.support.supervisor.supervisor_process import SupervisorProcess

SHAPE = {"query": "q", "sink": "topic q", "mode": "append", "sources": ["topic a"], "state": []}


def run(supervisor: SupervisorProcess, *words: str) -> Result:
    options = ["--supervisor", f"http://{supervisor.worker}"]
    return CliRunner().invoke(make_app("pipelines"), ["pipelines", *words, *options])


def said(supervisor: SupervisorProcess, *words: str) -> str:
    result = run(supervisor, *words)
    assert result.exit_code == 0, result.output
    return result.output


def test_commands_for_a_supervisor(place: Place) -> None:
    place.define("a.py", shape=[SHAPE])
    supervisor = place.supervisor()
    deploy = ("deploy", "one", "a.py")
    assert said(supervisor, *deploy, "--check") == (
        "- the query q is new, and begins at the start of its sources\n"
        "a.py can be deployed and keeps its checkpoint\n"
    )
    assert said(supervisor, *deploy, "--set", "spark.driver.memory=1g") == (
        "deployed one, version 1\n"
    )
    supervisor.wait_status("one", lambda each: each["queries"])
    listed = json.loads(said(supervisor, "list", "--json"))
    assert (listed["name"], listed["config"]["file"]) == ("one", "a.py")
    assert "running" in said(supervisor, "list")
    status = said(supervisor, "status", "one")
    assert status.startswith(f"one: running, version 1, run 1 on {supervisor.worker}, 0 failures")
    assert said(supervisor, "logs", "one", "-n", "1").startswith("batch ")
    assert "version 1 of a.py" in said(supervisor, "history", "one")
    for order, done in (("pause", "paused"), ("resume", "resumed"), ("restart", "restarted")):
        assert said(supervisor, order, "one") == f"{done} one\n"
    place.define("a.py", shape=[{**SHAPE, "sources": ["topic b"]}])
    refused = run(supervisor, *deploy, "--check")
    assert refused.exit_code == 1
    assert "✗ q reads topic b, but the checkpoint has offsets of topic a" in refused.output
    assert run(supervisor, *deploy).exit_code == 1
    assert said(supervisor, *deploy, "--new-checkpoint") == "deployed one, version 2\n"
    assert said(supervisor, "stop", "one") == "stopped one\n"
    assert said(supervisor, "remove", "one", "--yes") == "removed one; its checkpoints are kept\n"
    missing = run(supervisor, "status", "one")
    assert (missing.exit_code, missing.output) == (1, "There is no pipeline 'one'.\n")


@pytest.mark.parametrize(
    ("url", "code"), [("ftp://x", 2), ("http://127.0.0.1:bad", 2), ("http://127.0.0.1:9", 3)]
)
def test_an_address_without_a_supervisor_is_an_error(url: str, code: int) -> None:
    command = ["pipelines", "list", "--supervisor", url]
    result = CliRunner().invoke(make_app("pipelines"), command)
    assert result.exit_code == code
    assert "supervisor" in result.output.lower()
