"""What is deployed, and how it runs. Every supervisor knows it from the topic; the progress of the
queries only the owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ottla.version import __version__
from ottla.web.service.paths import segment
from ottla.web.service.problems import HttpProblem
from ottla.web.supervisor.api import payloads
from ottla.web.supervisor.api.forwarded import OwnerRequests
from ottla.web.supervisor.model.deployment import Deployment
from ottla.web.supervisor.running.child_process import ChildSettings, last_lines
from ottla.web.supervisor.running.shard import PipelineShard
from ottla.web.supervisor.running.shard_members import ShardMembers
from ottla.web.supervisor.storing.pipeline_topic import PipelineTopic

_LINES: Final = 100
_LINES_MAX: Final = 10_000


class ReadingApi:
    def __init__(
        self,
        topic: PipelineTopic,
        members: ShardMembers,
        requests: OwnerRequests,
        settings: ChildSettings,
    ) -> None:
        self._topic = topic
        self._members = members
        self._requests = requests
        self._settings = settings

    async def root(self, _request: Request) -> Response:
        return payloads.json_response(
            {"version": __version__, "commit": "", "kafka_cluster_id": self._topic.cluster_id}
        )

    async def names(self, request: Request) -> Response:
        deployments = sorted(self._topic.table.deployments.values(), key=lambda each: each.name)
        wanted = request.query_params.getlist("expand")
        if not wanted:
            return payloads.json_response([each.name for each in deployments])
        found: dict[str, dict[str, Any]] = {}
        for each in deployments:
            found[each.name] = {}
            if "info" in wanted:
                found[each.name]["info"] = payloads.info(each)
            if "status" in wanted:
                found[each.name]["status"] = self._status(each)
        return payloads.json_response(found)

    async def info(self, request: Request) -> Response:
        return payloads.json_response(payloads.info(self.known(request)))

    async def config(self, request: Request) -> Response:
        return payloads.json_response(payloads.info(self.known(request))["config"])

    async def tasks(self, request: Request) -> Response:
        deployment = self.known(request)
        task = {"id": {"connector": deployment.name, "task": 0}, "config": deployment.config}
        return payloads.json_response([task])

    async def status(self, request: Request) -> Response:
        """Of the owner, or as it was written down last if the owner does not answer."""
        deployment = self.known(request)

        async def here(_shard: PipelineShard) -> Response:
            return payloads.json_response(self._status(deployment))

        try:
            return await self._requests.carry_out(request, deployment.name, here)
        except HttpProblem:
            return payloads.json_response(self._status(deployment))

    async def history(self, request: Request) -> Response:
        events = self._topic.table.history.get(self.known(request).name, [])
        return payloads.json_response([msgspec.structs.asdict(each) for each in events])

    async def logs(self, request: Request) -> Response:
        deployment = self.known(request)
        text = request.query_params.get("lines", str(_LINES))
        if not text.isdecimal() or not 0 < int(text) <= _LINES_MAX:
            raise HttpProblem(400, f"lines is a number from 1 to {_LINES_MAX}, not {text!r}")

        async def here(_shard: PipelineShard) -> Response:
            lines = last_lines(self._settings.log_of(deployment.name), int(text))
            return PlainTextResponse("".join(f"{line}\n" for line in lines))

        return await self._requests.carry_out(request, deployment.name, here)

    def known(self, request: Request) -> Deployment:
        """Raises HttpProblem 404."""
        name = segment(request, "name")
        found = self._topic.table.deployments.get(name)
        if found is None:
            raise HttpProblem(404, f"there is no pipeline {name!r}")
        return found

    def _status(self, deployment: Deployment) -> dict[str, Any]:
        shard = self._members.shard_of(deployment.name)
        pipeline = None if shard is None else shard.pipelines.get(deployment.name)
        progress: Mapping[str, Any] = {} if pipeline is None else pipeline.progress
        return payloads.status(deployment, self._topic.table.runs.get(deployment.name), progress)
