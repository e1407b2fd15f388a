"""Finds the session of a request for a consumer instance."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from ottla.web.gateway.calls.consume_calls import group_name, instance_name
from ottla.web.gateway.gateway import Gateway
from ottla.web.gateway.rest_v2.media_types import accepted_formats
from ottla.web.gateway.sessions.gateway_sessions import ConsumerSession
from ottla.web.gateway.sessions.session_table import SessionName
from ottla.web.service.bodies import read_body

INSTANCE_PATH: Final = "/consumers/{group}/instances/{instance}"


class InstanceAccess:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def session(self, request: Request) -> ConsumerSession:
        """Raises HttpProblem."""
        accepted_formats(request.headers.get("accept"))
        caller = await self._gateway.caller(request.scope)
        group = group_name(request.path_params["group"])
        instance = instance_name(request.path_params["instance"])
        name = SessionName(caller.key, group, instance)
        return await self._gateway.sessions.require(caller, name)

    async def body(self, request: Request) -> bytes:
        return await read_body(request, bytes_max=self._gateway.limits.body_bytes_max)
