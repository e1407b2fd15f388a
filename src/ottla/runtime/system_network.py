"""The network interface over TCP, with asyncio's transports."""

from __future__ import annotations

import asyncio
import errno
import socket  # noqa: TID251  this is the seam
from collections.abc import Callable

from ottla.runtime.network import Address, ConnectionHandler
from ottla.runtime.system_connection import SystemConnection
from ottla.runtime.system_listener import SystemListener

# The accept queue's length; the system may limit it further.
_BACKLOG = 1024


class SystemNetwork:
    """The host's network. Stateless; uses the running event loop."""

    __slots__ = ()

    def host_name(self) -> str:
        return socket.gethostname()

    async def listen(
        self, address: Address, make_handler: Callable[[], ConnectionHandler]
    ) -> SystemListener:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(
            _plain(address.host) or None,
            address.port,
            type=socket.SOCK_STREAM,
            flags=socket.AI_PASSIVE,
        )
        sockets: list[socket.socket] = []
        port = address.port
        try:
            # One by one, so that all interfaces get the port chosen for the first one.
            for host, family in dict.fromkeys((str(each[4][0]), each[0]) for each in found):
                listening = _listen(Address(host, port), family)
                if listening is not None:
                    sockets.append(listening)
                    port = listening.getsockname()[1]
        except BaseException:
            for listening in sockets:
                listening.close()
            raise
        if not sockets:
            reason = f"this host has no address {address.host}; listen on one that it has"
            raise OSError(errno.EADDRNOTAVAIL, reason)
        return SystemListener(Address(address.host, port), sockets, make_handler)

    async def connect(self, address: Address, handler: ConnectionHandler) -> SystemConnection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: SystemConnection(handler), address.host, address.port
        )
        return connection


def _plain(host: str) -> str | bytes:
    """Bytes for an ASCII host: text is encoded with IDNA, whose tables hardly any host needs."""
    return host.encode() if host.isascii() else host


def _listen(address: Address, family: int) -> socket.socket | None:
    """Returns None if the host lacks the address, such as the IPv6 address of a name."""
    try:
        listening = socket.create_server(address, family=family, backlog=_BACKLOG)
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            return None
        reason = (error.strerror or str(error)).lower()
        raise OSError(error.errno, f"{address.host}:{address.port}: {reason}") from error
    listening.setblocking(False)
    return listening
