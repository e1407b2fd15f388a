"""Requests that change what runs. The owner of a pipeline carries them out.

A request can deploy a definition of the supervisor's own directory, and nothing else: see
`model/child_options.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ottla.web.service.bodies import decode_body
from ottla.web.service.paths import segment
from ottla.web.service.problems import HttpProblem
from ottla.web.supervisor.api import payloads
from ottla.web.supervisor.api.forwarded import OwnerRequests
from ottla.web.supervisor.api.reading import ReadingApi
from ottla.web.supervisor.model.checkpoint_rules import CheckpointVerdict, compare
from ottla.web.supervisor.model.child_options import (
    FILE,
    InvalidDeploymentError,
    check_config,
    check_name,
    definition_file,
)
from ottla.web.supervisor.model.deployment import Deployment
from ottla.web.supervisor.model.lifecycle import PipelineTarget
from ottla.web.supervisor.model.pipeline_table import PipelineTable
from ottla.web.supervisor.running.child_process import ChildSettings, digest_of
from ottla.web.supervisor.running.definition_check import CheckedDefinition, DefinitionCheck
from ottla.web.supervisor.running.shard import PipelineShard

_NEW: Final = msgspec.json.Decoder(payloads.NewPipeline)
_CONFIG: Final = msgspec.json.Decoder(dict[str, str])
_BODY_BYTES_MAX: Final = 64 << 10
PIPELINES_MAX: Final = 1_000


@dataclass(frozen=True, slots=True)
class _Draft:
    """A deployment that was checked, with the version that it replaces."""

    deployment: Deployment
    before: Deployment | None
    checked: CheckedDefinition
    verdict: CheckpointVerdict


class SupervisorChanges:
    def __init__(
        self,
        table: PipelineTable,
        requests: OwnerRequests,
        reading: ReadingApi,
        settings: ChildSettings,
        check: DefinitionCheck,
    ) -> None:
        self._table = table
        self._requests = requests
        self._reading = reading
        self._settings = settings
        self._check = check

    # ---- deploying

    async def create(self, request: Request) -> Response:
        body = await decode_body(request, _NEW, bytes_max=_BODY_BYTES_MAX)
        if body.name in self._table.deployments:
            raise HttpProblem(409, f"the pipeline {body.name} exists already")
        return await self._deploy(request, body.name, body.config)

    async def put_config(self, request: Request) -> Response:
        config = await decode_body(request, _CONFIG, bytes_max=_BODY_BYTES_MAX)
        return await self._deploy(request, segment(request, "name"), config)

    async def validate(self, request: Request) -> Response:
        """What deploying would say, without deploying. Any supervisor can answer."""
        config = await decode_body(request, _CONFIG, bytes_max=_BODY_BYTES_MAX)
        draft = await self._draft(segment(request, "name"), config)
        return payloads.json_response(payloads.verdict(draft.checked.mistakes, draft.verdict))

    async def _deploy(self, request: Request, name: str, config: dict[str, str]) -> Response:
        is_new = request.query_params.get("checkpoint") == "new"

        async def here(shard: PipelineShard) -> Response:
            draft = await self._draft(name, config)
            if draft.checked.mistakes:
                raise HttpProblem(400, "; ".join(draft.checked.mistakes))
            deployment, before = draft.deployment, draft.before
            if not draft.verdict.can_be_kept and not is_new:
                raise HttpProblem(
                    409,
                    "the checkpoint cannot be kept: "
                    f"{'; '.join(draft.verdict.reasons)}. Deploy with a new checkpoint, and "
                    "all queries begin at the start of their sources",
                )
            if is_new and before is not None:
                deployment = msgspec.structs.replace(deployment, checkpoint=before.checkpoint + 1)
            event = f"version {deployment.version} of {config[FILE]}"
            await shard.deploy(deployment, "deployed", event)
            return payloads.json_response(payloads.info(deployment), 201 if not before else 200)

        return await self._requests.carry_out(request, name, here)

    async def _draft(self, name: str, config: dict[str, str]) -> _Draft:
        """Raises HttpProblem 400."""
        config = {key: value for key, value in config.items() if key != "name"}
        try:
            check_name(name)
            check_config(config)
            file = definition_file(self._settings.definitions, config[FILE])
        except InvalidDeploymentError as error:
            raise HttpProblem(400, str(error)) from None
        digest = digest_of(file)
        checked = await self._check.check(file, name, config)
        if digest_of(file) != digest:
            raise HttpProblem(409, f"{file.name} has changed while it was checked; try again")
        before = self._table.deployments.get(name)
        if before is None and len(self._table.deployments) >= PIPELINES_MAX:
            raise HttpProblem(400, f"there are {PIPELINES_MAX} pipelines already")
        deployment = Deployment(
            name=name,
            config=config,
            digest=digest,
            version=1 if before is None else before.version + 1,
            target=PipelineTarget.RUNNING if before is None else before.target,
            checkpoint=1 if before is None else before.checkpoint,
            shape=checked.queries,
            restarts=0 if before is None else before.restarts,
        )
        verdict = compare(() if before is None else before.shape, checked.queries)
        return _Draft(deployment, before, checked, verdict)

    # ---- running

    async def pause(self, request: Request) -> Response:
        return await self._aim(request, PipelineTarget.PAUSED)

    async def resume(self, request: Request) -> Response:
        return await self._aim(request, PipelineTarget.RUNNING)

    async def stop(self, request: Request) -> Response:
        return await self._aim(request, PipelineTarget.STOPPED)

    async def restart(self, request: Request) -> Response:
        def restarted(deployment: Deployment) -> Deployment:
            if deployment.target is not PipelineTarget.RUNNING:
                raise HttpProblem(409, f"{deployment.name} is {deployment.target}: resume it")
            return msgspec.structs.replace(deployment, restarts=deployment.restarts + 1)

        return await self._change(request, restarted, "restart requested", 204)

    async def remove(self, request: Request) -> Response:
        name = self._reading.known(request).name

        async def here(shard: PipelineShard) -> Response:
            await shard.remove(name)
            return Response(status_code=204)

        return await self._requests.carry_out(request, name, here)

    async def _aim(self, request: Request, target: PipelineTarget) -> Response:
        def aimed(deployment: Deployment) -> Deployment:
            return msgspec.structs.replace(deployment, target=target)

        return await self._change(request, aimed, f"{target} requested", 202)

    async def _change(
        self,
        request: Request,
        change: Callable[[Deployment], Deployment],
        event: str,
        status: int,
    ) -> Response:
        name = self._reading.known(request).name

        async def here(shard: PipelineShard) -> Response:
            pipeline = shard.pipelines.get(name)
            if pipeline is None:
                raise HttpProblem(404, f"there is no pipeline {name!r}")
            await shard.deploy(change(pipeline.deployment), event)
            return Response(status_code=status)

        handled: Awaitable[Response] = self._requests.carry_out(request, name, here)
        return await handled
