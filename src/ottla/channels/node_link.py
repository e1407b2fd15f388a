"""A connection to a node of any kind and version, which starts with ApiVersions.

Nodes of one cluster use fixed versions (versions.py). Clients from outside negotiate versions, so
they can talk to the nodes of Apache Kafka as well.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ottla.channels.channel import Channel
from ottla.channels.channel_security import PLAINTEXT, ChannelSecurity
from ottla.channels.errors import UnknownRequestError
from ottla.runtime.clock import Clock
from ottla.runtime.network import Address, Network
from ottla.wire.apis import ApiKey
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.schema import Message

CONNECT_TIMEOUT_MS: Final = 3_000
# A node without a response to ApiVersions after this time hangs, or is not a Kafka node.
HELLO_TIMEOUT_MS: Final = 3_000
REQUEST_TIMEOUT_MS: Final = 30_000
# Since Kafka 2.4. Nodes that support only lower versions are older than any KRaft cluster.
_API_VERSIONS_VERSION: Final = 3


class NodeLink:
    """Created by `connect`, closed by `close` or by the node."""

    def __init__(self, channel: Channel, versions: dict[int, int]) -> None:
        self._channel = channel
        self._versions = versions

    @classmethod
    async def connect(
        cls,
        network: Network,
        clock: Clock,
        address: Address,
        *,
        client_id: str = "ottla",
        security: ChannelSecurity = PLAINTEXT,
    ) -> NodeLink:
        """Raises ChannelError."""
        channel = await Channel.connect(
            network,
            clock,
            address,
            client_id=client_id,
            timeout_ms=CONNECT_TIMEOUT_MS,
            security=security,
        )
        hello = ApiVersionsRequest(client_software_name="ottla", client_software_version="0")
        try:
            answer = await channel.send(hello, _API_VERSIONS_VERSION, timeout_ms=HELLO_TIMEOUT_MS)
        except BaseException:
            channel.close()
            raise
        return cls(channel, {api.api_key: api.max_version for api in answer.api_keys})

    @property
    def address(self) -> Address:
        return self._channel.address

    @property
    def is_open(self) -> bool:
        return self._channel.is_open

    async def send_request(
        self,
        request: Message,
        *,
        version_max: int | None = None,
        timeout_ms: int = REQUEST_TIMEOUT_MS,
    ) -> Any:
        """Returns the response. Uses the highest version that both sides support, up to
        `version_max`. Raises ChannelError; an UnknownRequestError if the node supports no version
        of it."""
        return await self.send(request, version_max=version_max, timeout_ms=timeout_ms)

    def send(
        self,
        request: Message,
        *,
        version_max: int | None = None,
        timeout_ms: int = REQUEST_TIMEOUT_MS,
    ) -> asyncio.Future[Any]:
        """Like `send_request`, but the request is already sent when this returns, so that others
        can be pipelined."""
        assert request.api_key is not None
        known = type(request).versions
        highest = known.highest if version_max is None else version_max
        version = min(highest, self._versions.get(request.api_key, -1))
        if version < known.lowest:
            host, port = self.address
            name = ApiKey(request.api_key).name
            raise UnknownRequestError(f"{host}:{port} does not support the request {name}")
        return self._channel.send(request, version, timeout_ms=timeout_ms)

    def close(self) -> None:
        self._channel.close()
