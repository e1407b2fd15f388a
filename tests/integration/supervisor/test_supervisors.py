"""Supervisors as processes, with children that are fakes: what they run, and who takes it over."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from tests.support.supervisor.place import Place
from tests.support.supervisor.supervisor_process import SupervisorProcess

SHAPE = {"query": "q", "sink": "topic q", "mode": "append", "sources": ["topic a"], "state": []}


def test_a_pipeline_is_deployed_watched_paused_and_removed(place: Place) -> None:
    place.define("a.py", shape=[SHAPE])
    supervisor = place.supervisor()
    created = supervisor.ask("POST", "/connectors", {"name": "one", "config": {"file": "a.py"}})
    assert (created.status, created.body["version"]) == (201, 1)
    assert supervisor.ask("GET", "/connectors").body == ["one"]
    status = supervisor.wait_status("one", lambda each: each["queries"])
    assert status["connector"] == {"state": "RUNNING", "worker_id": supervisor.worker}
    assert status["queries"]["q"]["rows_total"] >= 10
    assert supervisor.ask("GET", "/connectors/one/logs?lines=1").body.startswith("batch ")
    metrics = supervisor.ask("GET", "/metrics", accept="text/plain").body
    assert 'ottla_supervisor_pipelines{state="running"} 1' in metrics
    assert 'ottla_supervisor_lag_records{pipeline="one",query="q"} 5' in metrics
    assert supervisor.ask("PUT", "/connectors/one/pause").status == 202
    supervisor.wait_state("one", "PAUSED")
    supervisor.wait_status("one", lambda each: not each["queries"])
    assert supervisor.ask("POST", "/connectors/one/restart").status == 409
    assert supervisor.ask("PUT", "/connectors/one/resume").status == 202
    supervisor.wait_status("one", lambda each: each["queries"])
    assert supervisor.ask("POST", "/connectors/one/restart").status == 204
    supervisor.wait_status("one", lambda each: each["epoch"] == 3 and each["queries"])
    assert supervisor.ask("DELETE", "/connectors/one").status == 204
    assert supervisor.ask("GET", "/connectors").body == []
    assert place.events("one") == {"start": 3, "end": 3}
    assert supervisor.stop() == 0


def test_a_failing_pipeline_is_started_again_and_its_reason_is_shown(place: Place) -> None:
    place.define("a.py", fails=2)
    supervisor = place.supervisor()
    assert supervisor.ask("PUT", "/connectors/one/config", {"file": "a.py"}).status == 201
    supervisor.wait_status("one", lambda each: each["epoch"] == 3 and each["queries"])
    events = supervisor.ask("GET", "/connectors/one/history").body
    assert [(each["event"], each["detail"]) for each in events if "failure" in each["detail"]] == [
        ("restarting", "failure number 1"),
        ("restarting", "failure number 2"),
    ]
    place.define("a.py", fails=0)
    os.kill(
        int((place.directory / "checkpoints/one/events").read_text().split()[-1]), signal.SIGKILL
    )
    status = supervisor.wait_state("one", "FAILED")
    assert status["tasks"][0]["trace"] == (
        "a.py on this host is not version 1: deploy it again, or copy that version here"
    )


def test_a_new_version_keeps_its_checkpoint_or_is_refused(place: Place) -> None:
    place.define("a.py", shape=[SHAPE])
    supervisor = place.supervisor()
    config = {"file": "a.py"}
    assert supervisor.ask("PUT", "/connectors/one/config", config).status == 201
    supervisor.wait_status("one", lambda each: each["queries"])
    place.define("a.py", shape=[{**SHAPE, "sources": ["topic b"]}])
    found = supervisor.ask("PUT", "/connectors/one/config/validate", config)
    assert found.body["checkpoint"]["can_be_kept"] is False
    refused = supervisor.ask("PUT", "/connectors/one/config", config)
    assert refused.status == 409
    assert "q reads topic b, but the checkpoint has offsets of topic a" in refused.body["message"]
    again = supervisor.ask("PUT", "/connectors/one/config?checkpoint=new", config)
    assert (again.status, again.body["version"]) == (200, 2)
    supervisor.wait_status("one", lambda each: each["epoch"] == 2 and each["queries"])
    assert sorted(each.name for each in (place.directory / "checkpoints/one").iterdir()) == [
        "1",
        "2",
        "events",
    ]


def test_requests_that_are_not_allowed_are_refused(place: Place) -> None:
    place.define("a.py", shape=[{"mistake": "there is no topic a"}])
    (place.directory.parent / "outside.py").write_text("# {}\n")
    supervisor = place.supervisor()
    for body, reason in (
        ({"file": "../outside.py"}, "there is no definition"),
        ({"file": "a.py", "spark.jars": "evil.jar"}, "spark.jars cannot be set"),
        ({"file": "a.py"}, "there is no topic a"),
    ):
        refused = supervisor.ask("PUT", "/connectors/one/config", body)
        assert refused.status == 400
        assert reason in refused.body["message"]
    assert supervisor.ask("GET", "/connectors/none").status == 404
    assert supervisor.ask("GET", "/connectors", host="evil.example").status == 403
    assert supervisor.ask("GET", "/connectors", origin="http://evil.example").status == 403


def workers(supervisor: SupervisorProcess, names: Sequence[str]) -> dict[str, str]:
    """Which supervisor each pipeline runs at; empty while one of them does not run."""
    found = {name: supervisor.status(name) for name in names}
    if not all(each["queries"] for each in found.values()):
        return {}
    return {name: each["connector"]["worker_id"] for name, each in found.items()}


def test_survivors_take_over_the_pipelines_of_a_dead_supervisor(place: Place) -> None:
    place.define("a.py")
    names = ["one", "two", "three", "four", "five"]
    first, second = place.supervisor(), place.supervisor()
    for name in names:
        assert second.ask("PUT", f"/connectors/{name}/config", {"file": "a.py"}).status == 201
    held: dict[str, str] = {}

    def is_shared(_status: object) -> bool:
        nonlocal held
        held = workers(first, names)
        return {*held.values()} == {first.worker, second.worker}

    # The first one may have all of them until the second one gets its share.
    first.wait_status(names[0], is_shared)
    started = {name: place.events(name)["start"] for name in names}
    first.kill()
    for name in names:
        is_here = lambda each: each["queries"] and each["connector"]["worker_id"] == second.worker  # noqa: E731
        second.wait_status(name, is_here)
        events = place.events(name)
        assert events["overlap"] == 0
        assert events["start"] >= started[name] + (held[name] == first.worker)
    assert second.stop() == 0
