"""Connections to controllers, which the brokers' metadata does not name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from ottla.client.cluster import ClientCluster
from ottla.client.settings.common import ClusterSettings
from ottla.runtime.network import Address
from ottla.wire.schema import Message


class ControllerNodes:
    """A client for each address. Use it within `async with`."""

    def __init__(self, settings: ClusterSettings) -> None:
        self._settings = settings
        self._clients: dict[Address, ClientCluster] = {}

    async def send(self, address: Address, request: Message) -> Any:
        """Raises ChannelError."""
        client = self._clients.get(address)
        if client is None:
            client = ClientCluster(replace(self._settings, bootstrap=(address,)))
            self._clients[address] = client
        return await client.send_to_any(request)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        for client in self._clients.values():
            await client.close()
