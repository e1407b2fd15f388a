"""Bodies of requests and answers, with Kafka Connect's names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from ottla.web.service.bodies import json_bytes
from ottla.web.service.problems import HttpProblem
from ottla.web.supervisor.model.checkpoint_rules import CheckpointVerdict
from ottla.web.supervisor.model.deployment import Deployment, PipelineRun
from ottla.web.supervisor.model.lifecycle import PipelineState, PipelineTarget

_TYPE = "sink"


class NewPipeline(msgspec.Struct):
    name: str
    config: dict[str, str]


def json_response(value: Any, status: int = 200) -> Response:
    return Response(json_bytes(value), status, {"content-type": "application/json"})


def render_problem(problem: HttpProblem) -> Response:
    body = json_bytes({"error_code": problem.status, "message": problem.message})
    headers = {"content-type": "application/json", **problem.headers}
    return Response(body, problem.status, headers)


def info(deployment: Deployment) -> dict[str, Any]:
    return {
        "name": deployment.name,
        "config": {"name": deployment.name, **deployment.config},
        "tasks": [{"connector": deployment.name, "task": 0}],
        "type": _TYPE,
        "version": deployment.version,
    }


def status(
    deployment: Deployment, run: PipelineRun | None, progress: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    state = _state(deployment, run)
    worker = "" if run is None else run.worker
    task: dict[str, Any] = {"id": 0, "state": state, "worker_id": worker}
    if run is not None and run.reason:
        task["trace"] = run.reason
    return {
        "name": deployment.name,
        "connector": {"state": state, "worker_id": worker},
        "tasks": [task],
        "type": _TYPE,
        "version": deployment.version,
        "epoch": 0 if run is None else run.epoch,
        "failures": 0 if run is None else run.failures,
        "started_ms": 0 if run is None else run.started_ms,
        "queries": dict(progress),
    }


def verdict(mistakes: Sequence[str], found: CheckpointVerdict) -> dict[str, Any]:
    return {
        "errors": list(mistakes),
        "checkpoint": {
            "can_be_kept": found.can_be_kept,
            "reasons": list(found.reasons),
            "notes": list(found.notes),
        },
    }


def _state(deployment: Deployment, run: PipelineRun | None) -> PipelineState:
    if deployment.target is PipelineTarget.PAUSED:
        return PipelineState.PAUSED
    if deployment.target is PipelineTarget.STOPPED:
        return PipelineState.STOPPED
    return PipelineState.UNASSIGNED if run is None else run.state
