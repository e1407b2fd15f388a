"""Requests that only the owner of a pipeline can answer: carried out here if it is this supervisor,
else sent on to the owner, once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from ottla.client.errors import ClientError
from ottla.runtime.clock import Clock
from ottla.web.service.bodies import read_body
from ottla.web.service.forwarding import (
    FORWARDED,
    ForwardingFailedError,
    InstanceClient,
    NotForwardedError,
)
from ottla.web.service.instance_address import InstanceAddress
from ottla.web.service.problems import HttpProblem
from ottla.web.supervisor.model.deployment import ShardOwner, partition_of
from ottla.web.supervisor.running.shard import NotOwnerError, PipelineShard
from ottla.web.supervisor.running.shard_members import ShardMembers
from ottla.web.supervisor.storing.pipeline_topic import PipelineTopic

_MISDIRECTED: Final = 421
_PATIENCE_S: Final = 20.0
_PAUSE_S: Final = 0.1
_PASSED_ON: Final = ("authorization", "content-type")
# A deployment is checked first, which starts Spark.
_FORWARD_S: Final = 400.0

OnShard = Callable[[PipelineShard], Awaitable[Response]]


class OwnerRequests:
    def __init__(
        self,
        members: ShardMembers,
        topic: PipelineTopic,
        client: InstanceClient,
        clock: Clock,
        worker: Callable[[], str],
    ) -> None:
        self._members = members
        self._topic = topic
        self._client = client
        self._clock = clock
        self._worker = worker

    async def carry_out(self, request: Request, name: str, operation: OnShard) -> Response:
        """Waits while the pipelines are being given to other supervisors. Raises HttpProblem."""
        deadline = self._clock.monotonic() + _PATIENCE_S
        while True:
            shard = self._members.shard_of(name)
            try:
                if shard is not None and shard.is_claimed:
                    return await operation(shard)
                owner = self._owner(name)
                if shard is None and owner is not None and FORWARDED not in request.headers:
                    return await self._forward(request, owner)
            except (NotOwnerError, NotForwardedError):
                pass
            except ForwardingFailedError as error:
                raise HttpProblem(
                    502, f"the owner of {name} may have received the request: {error}"
                ) from None
            except ClientError as error:
                raise HttpProblem(503, f"cannot write to {self._topic.name}: {error}") from None
            if FORWARDED in request.headers and shard is None:
                raise HttpProblem(_MISDIRECTED, f"this supervisor does not own {name} any more")
            if self._clock.monotonic() > deadline:
                raise HttpProblem(
                    409, f"no supervisor owns {name} at the moment; try again in a few seconds"
                )
            await self._clock.sleep(_PAUSE_S)

    def _owner(self, name: str) -> ShardOwner | None:
        """Another supervisor, as it wrote itself down."""
        found = self._topic.table.owners.get(partition_of(name, self._topic.partitions))
        return None if found is None or found.worker == self._worker() else found

    async def _forward(self, request: Request, owner: ShardOwner) -> Response:
        headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        query = f"?{request.url.query}" if request.url.query else ""
        answer = await self._client.send(
            InstanceAddress(owner.host, owner.port, owner.scheme),
            request.method,
            request.scope.get("raw_path", b"/").decode("latin-1").partition("?")[0] + query,
            {**headers, FORWARDED: "true"},
            await read_body(request),
            timeout_s=_FORWARD_S,
        )
        if answer.status == _MISDIRECTED:
            # The pipelines are moving.
            raise NotOwnerError(f"{owner.worker} does not own it any more")
        kind = answer.headers.get("content-type", "application/json")
        return Response(answer.body, answer.status, {"content-type": kind})
