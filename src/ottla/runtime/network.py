"""The network interface: byte streams with callbacks, so that a request needs no task.

The handler provides the buffer to receive into and is called with the number of bytes received. A
record batch is thus checked and written from the buffer it arrived in. `SystemNetwork`
(system_network.py) is the real implementation.

A connection's handler is called in this order: `connected` once, then any number of `get_buffer`,
`buffer_filled`, `pause_writing` and `resume_writing`, then `closed` once. All calls are on the
event loop. An exception from the handler closes the connection with that error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ottla.model.buffers import Buffer
from ottla.runtime.disk import File


class Address(NamedTuple):
    """An address to listen on or connect to. For listening, an empty host means every interface,
    and port 0 any free port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Connection(Protocol):
    """A bidirectional byte stream. Data is sent in the order of the calls.

    After `close`, or after the connection was lost, all methods do nothing.
    """

    @property
    def peer_address(self) -> Address: ...

    @property
    def local_address(self) -> Address: ...

    @property
    def peer_certificate(self) -> bytes | None:
        """The peer's verified TLS certificate (DER), or None."""

    def write(self, buffers: Sequence[Buffer]) -> None:
        """Sends the buffers back to back. They must not be changed until they are sent."""

    def send_file(self, file: File, *, position: int, length: int) -> None:
        """Sends a range of a file, with `sendfile` if possible.

        The file may be closed, renamed or removed at once. If it is shorter than the range, the
        connection is closed, because the peer expects all of it.
        """

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None:
        """Sends everything written, then closes. Takes until the peer has read it."""

    def abort(self) -> None:
        """Closes at once and discards unsent data."""


class ConnectionHandler(Protocol):
    """The owner of one connection."""

    def connected(self, connection: Connection) -> None: ...

    def get_buffer(self, size_hint: int) -> bytearray | memoryview:
        """A buffer for the next bytes; never empty. `size_hint` is -1 if unknown."""

    def buffer_filled(self, length: int) -> None:
        """`length` bytes arrived at the start of the last buffer."""

    def pause_writing(self) -> None:
        """Data is queued faster than the peer reads it. May be called during a `write`."""

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None:
        """The last call. No error means that one of the two sides closed the connection."""


class Listener(Protocol):
    """An open port that accepts connections from the start. Closing it leaves its connections
    open."""

    @property
    def address(self) -> Address:
        """The address it listens on, with the actual port if port 0 was requested."""

    def pause_accepting(self) -> None:
        """Leaves new connections in the operating system's queue and creates no more handlers. May
        be called while a handler is being created."""

    def resume_accepting(self) -> None: ...

    def close(self) -> None: ...


class Network(Protocol):
    """Connections to and from other hosts. Errors are `OSError`s."""

    def host_name(self) -> str:
        """The host's own name."""

    async def listen(
        self, address: Address, make_handler: Callable[[], ConnectionHandler]
    ) -> Listener: ...

    async def connect(self, address: Address, handler: ConnectionHandler) -> Connection:
        """Returns after `handler.connected`. May wait long if the peer does not respond; set a
        timeout."""
