"""Commands that administer a cluster, against a node that answers by a function."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ottla.client.administration.admin import Admin
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.schema import Message
from tests.support.nodes.scripted_node import ScriptedNode

T = TypeVar("T")
SECONDS_MAX = 20


class ScriptedCluster:
    """`requests` are those that came after ApiVersions."""

    def __init__(self, answer: Callable[[Message], Message]) -> None:
        self._answer = answer
        self.requests: list[Message] = []

    def run(self, command: Callable[[Admin], Awaitable[T]]) -> T:
        async def scenario() -> T:
            node = ScriptedNode(self._respond)
            address = await node.listen()
            try:
                async with Admin(bootstrap_servers=str(address)) as admin:
                    return await command(admin)
            finally:
                node.stop()

        return asyncio.run(asyncio.wait_for(scenario(), SECONDS_MAX))

    def _respond(self, request: Message) -> Message:
        if isinstance(request, ApiVersionsRequest):
            # Each request in its highest version.
            known = [ApiVersion(api_key=key, min_version=0, max_version=100) for key in range(100)]
            return ApiVersionsResponse(api_keys=known)
        self.requests.append(request)
        return self._answer(request)
