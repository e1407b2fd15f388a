"""The connections to one node: one for each lane, with the versions that both sides support."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from ottla.channels import Channel, ChannelError, ChannelSecurity, Peer, ReconnectBackoff
from ottla.channels.errors import UnknownRequestError
from ottla.client.cluster.seams import ClientSeams
from ottla.runtime.network import Address
from ottla.runtime.tasks import Tasks
from ottla.version import __version__
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.schema import Message

# Since Kafka 2.4; nodes that support only lower versions are older than any KRaft cluster.
_API_VERSIONS_VERSION: Final = 3


class Lane(Enum):
    """Requests of different lanes use different connections: a node answers the requests of one
    connection in order, so that a long poll delays all requests behind it."""

    MAIN = "main"
    FETCH = "fetch"
    GROUP = "group"


class NodeConnection:
    """One connection, which is established when it is needed, and again after it was lost."""

    def __init__(
        self,
        seams: ClientSeams,
        tasks: Tasks,
        locate: Callable[[int], Address | None],
        node_id: int,
        *,
        client_id: str,
        backoff: ReconnectBackoff,
        security: ChannelSecurity,
        on_greeting: Callable[[ApiVersionsResponse], None],
    ) -> None:
        # Changes once, when the node behind a bootstrap address is known.
        self.node_id = node_id
        self.versions: dict[int, range] = {}
        self.in_flight = 0
        self.last_used = seams.clock.monotonic()
        self._clock = seams.clock
        self._on_greeting = on_greeting
        self._backoff = backoff
        # Resolved when the node's throttle time has passed (KIP-219).
        self._throttled: asyncio.Future[None] | None = None
        self._peer = Peer(
            seams.network,
            seams.clock,
            seams.dice,
            tasks,
            lambda: locate(self.node_id),
            client_id=client_id,
            backoff=backoff,
            greet=self._greet,
            security=security,
        )

    @property
    def is_connected(self) -> bool:
        return self._peer.is_connected

    async def send(self, request: Message, *, version_max: int | None, timeout_ms: int) -> Any:
        """Raises ChannelError; an UnknownRequestError if the node supports no version of it."""
        while self._throttled is not None:
            await asyncio.shield(self._throttled)
        channel = self._peer.connected_channel()
        self.in_flight += 1
        try:
            if channel is None:
                channel = await self._peer.channel()
            self.last_used = self._clock.monotonic()
            version = self._version(request, version_max)
            response = await channel.send(request, version, timeout_ms=timeout_ms)
        finally:
            self.in_flight -= 1
        throttle_ms = getattr(response, "throttle_time_ms", 0)
        if throttle_ms > 0:
            self._throttle(throttle_ms)
        return response

    async def post(self, request: Message, *, version_max: int | None) -> None:
        """Sends a request that the node does not answer. Raises ChannelError."""
        channel = self._peer.connected_channel()
        if channel is None:
            channel = await self._peer.channel()
        self.last_used = self._clock.monotonic()
        channel.post(request, self._version(request, version_max))

    async def connect(self) -> None:
        """Raises ChannelError."""
        await self._peer.channel()

    def close(self) -> None:
        self._peer.close()

    def _version(self, request: Message, version_max: int | None) -> int:
        assert request.api_key is not None
        own = type(request).stable
        highest = own.highest if version_max is None else min(own.highest, version_max)
        theirs = self.versions.get(request.api_key, range(0))
        version = min(highest, theirs.stop - 1)
        if version < own.lowest or version < theirs.start:
            name = ApiKey(request.api_key).name
            raise UnknownRequestError(
                f"the node supports no version of the request {name} that this client has"
            )
        return version

    async def _greet(self, channel: Channel) -> None:
        request = ApiVersionsRequest(
            client_software_name="ottla", client_software_version=__version__
        )
        response: ApiVersionsResponse = await channel.send(
            request, _API_VERSIONS_VERSION, timeout_ms=self._backoff.connect_timeout_ms
        )
        if response.error_code:
            raise ChannelError(f"{channel.address} refused ApiVersions: {response.error_code}")
        self.versions = {
            api.api_key: range(api.min_version, api.max_version + 1) for api in response.api_keys
        }
        self._on_greeting(response)

    def _throttle(self, milliseconds: int) -> None:
        if self._throttled is not None:
            return
        self._throttled = asyncio.get_running_loop().create_future()
        self._clock.call_later(milliseconds / 1_000, self._resume)

    def _resume(self) -> None:
        throttled, self._throttled = self._throttled, None
        if throttled is not None and not throttled.done():
            throttled.set_result(None)
