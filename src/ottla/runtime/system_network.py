"""TCP behind the network seam, over asyncio's transports (which set TCP_NODELAY themselves)."""

from __future__ import annotations

import asyncio
import errno
import socket  # noqa: TID251  this is the seam
from collections.abc import Callable, Sequence

from ottla.runtime.network import Address, ConnectionHandler
from ottla.runtime.system_connection import SystemConnection


class SystemNetwork:
    """The host's network. Has no state; belongs to whichever event loop runs."""

    __slots__ = ()

    def host_name(self) -> str:
        return socket.gethostname()

    async def listen(
        self, address: Address, make_handler: Callable[[], ConnectionHandler]
    ) -> SystemListener:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(
            address.host or None,
            address.port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )
        servers: list[asyncio.Server] = []
        port = address.port
        try:
            # One by one, so that a port which is chosen for the first interface is every one's.
            for host in dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found):
                server = await _serve(Address(host, port), make_handler)
                if server is not None:
                    servers.append(server)
                    port = server.sockets[0].getsockname()[1]
        except BaseException:
            _close(servers)
            raise
        if not servers:
            reason = f"this host has no address {address.host}; listen on one that it has"
            raise OSError(errno.EADDRNOTAVAIL, reason)
        return SystemListener(Address(address.host, port), servers)

    async def connect(self, address: Address, handler: ConnectionHandler) -> SystemConnection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: SystemConnection(handler), address.host, address.port
        )
        return connection


class SystemListener:
    """One server for each address that the host's name stands for, all with one port."""

    def __init__(self, address: Address, servers: Sequence[asyncio.Server]) -> None:
        self._address = address
        self._servers = servers

    @property
    def address(self) -> Address:
        return self._address

    def close(self) -> None:
        _close(self._servers)


async def _serve(
    address: Address, make_handler: Callable[[], ConnectionHandler]
) -> asyncio.Server | None:
    """None where the host lacks the address, as with names that also stand for an IPv6 one."""
    loop = asyncio.get_running_loop()
    try:
        server = await loop.create_server(
            lambda: SystemConnection(make_handler()), address.host, address.port
        )
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        raise
    return server if server.sockets else None


def _close(servers: Sequence[asyncio.Server]) -> None:
    for server in servers:
        server.close()
