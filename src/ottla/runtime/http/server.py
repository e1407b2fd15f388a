"""An HTTP/1.1 server on the network interface, for pages that are only read.

| limit | |
|---|---|
| connections | `CONNECTIONS_MAX`; one more closes the oldest that has not sent its request |
| request | `HEAD_BYTES_MAX` bytes; GET or HEAD, without a body |
| time | `seconds_max` from the accept to the last byte |

A connection serves one request. A body that is generated is sent at the pace of the client, so that
it does not pile up in memory.
"""

from __future__ import annotations

import logging
from typing import Final

from ottla.runtime.clock import Clock
from ottla.runtime.http.connection import Handle, HttpConnection
from ottla.runtime.network import Address, Listener, Network
from ottla.runtime.tasks import Tasks

_log = logging.getLogger(__name__)

CONNECTIONS_MAX: Final = 32
_SECONDS_MAX: Final = 30.0


class HttpServer:
    """Belongs to one event loop. `open` once, then `close` once."""

    def __init__(
        self, network: Network, clock: Clock, handle: Handle, *, seconds_max: float = _SECONDS_MAX
    ) -> None:
        self._network = network
        self._clock = clock
        self._handle = handle
        self._seconds_max = seconds_max
        self._tasks = Tasks(_task_failed)
        self._connections: dict[HttpConnection, None] = {}
        self._listener: Listener | None = None
        self._is_closed = False

    async def open(self, address: Address) -> Address:
        """Returns the address with the bound port. Raises OSError."""
        self._listener = await self._network.listen(address, self._accept)
        return self._listener.address

    async def close(self) -> None:
        """Ends all connections, also those that are being served."""
        self._is_closed = True
        if self._listener is not None:
            self._listener.close()
        for connection in list(self._connections):
            connection.abort()
        await self._tasks.close()

    def opened(self, connection: HttpConnection) -> None:
        self._connections[connection] = None
        if self._is_closed:
            connection.abort()
        elif len(self._connections) > CONNECTIONS_MAX:
            # The new one, if all others are being served.
            oldest = next(each for each in self._connections if not each.is_responding)
            del self._connections[oldest]
            oldest.abort()

    def ended(self, connection: HttpConnection) -> None:
        self._connections.pop(connection, None)

    def _accept(self) -> HttpConnection:
        return HttpConnection(
            self, self._handle, self._clock, self._tasks, seconds_max=self._seconds_max
        )


def _task_failed(name: str, error: BaseException) -> None:
    _log.error("%s failed", name, exc_info=error)
