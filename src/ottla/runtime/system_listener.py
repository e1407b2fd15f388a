"""An open TCP port that accepts connections while it is not paused and descriptors are left.

asyncio's own server cannot pause, and without free descriptors it raises an error for each
connection that it cannot accept.
"""

from __future__ import annotations

import asyncio
import logging
import socket  # noqa: TID251  this is the seam
from collections.abc import Callable, Sequence

from ottla.runtime.network import Address, ConnectionHandler
from ottla.runtime.system_connection import SystemConnection

_log = logging.getLogger(__name__)

# After this many, existing connections get their turn.
_ACCEPTS_AT_ONCE = 64
_RETRY_SECONDS = 1.0


class SystemListener:
    """One socket for each address of the host name, all with the same port."""

    def __init__(
        self,
        address: Address,
        sockets: Sequence[socket.socket],
        make_handler: Callable[[], ConnectionHandler],
    ) -> None:
        self._address = address
        self._sockets = sockets
        self._make_handler = make_handler
        self._loop = asyncio.get_running_loop()
        self._is_accepting = False
        self._retry: asyncio.TimerHandle | None = None
        # Tasks that hand accepted sockets to their handlers.
        self._accepted: set[asyncio.Task[object]] = set()
        self.resume_accepting()

    @property
    def address(self) -> Address:
        return self._address

    def pause_accepting(self) -> None:
        self._is_accepting = False
        for listening in self._sockets:
            self._loop.remove_reader(listening)
        if self._retry is not None:
            self._retry.cancel()

    def resume_accepting(self) -> None:
        self._is_accepting = True
        for listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening)

    def close(self) -> None:
        self.pause_accepting()
        for listening in self._sockets:
            listening.close()
        self._sockets = ()

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_ACCEPTS_AT_ONCE):
            # The last connection's handler may have paused the listener.
            if not self._is_accepting:
                return
            try:
                accepted, _ = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                _log.warning("cannot accept connections for now: %s", error)
                self.pause_accepting()
                self._retry = self._loop.call_later(_RETRY_SECONDS, self.resume_accepting)
                return
            self._hand_over(accepted)

    def _hand_over(self, accepted: socket.socket) -> None:
        accepted.setblocking(False)
        # asyncio sets this itself only on sockets that it made.
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Detects a peer that vanished without closing, as in Kafka.
        accepted.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection = SystemConnection(self._make_handler())
        task = self._loop.create_task(
            self._loop.connect_accepted_socket(lambda: connection, accepted)
        )
        self._accepted.add(task)
        task.add_done_callback(self._accepted.discard)
