"""The network seam: byte streams with callbacks, so that a request costs no task.

The handler lends the buffer that bytes are received into, and is told how many came: a record
batch is received where it will be checked and written from. `SystemNetwork` (system_network.py)
is the real one.

The life of a connection, as its handler sees it: `connected` once, then any number of
`get_buffer`, `buffer_filled`, `pause_writing` and `resume_writing`, then `closed` once. All of
them run on the event loop. One that raises an exception ends the connection with that error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ottla.model.buffers import Buffer
from ottla.runtime.disk import File


class Address(NamedTuple):
    """Where to listen or connect. To listen, an empty host is every interface, port 0 any port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Connection(Protocol):
    """A stream in both directions. What is sent goes out in the order of the calls.

    After `close`, or once the connection was lost, everything here does nothing.
    """

    @property
    def peer_address(self) -> Address: ...

    @property
    def local_address(self) -> Address: ...

    def write(self, buffers: Sequence[Buffer]) -> None:
        """Sends the buffers back to back. They must not change until they are sent."""

    def send_file(self, file: File, *, position: int, length: int) -> None:
        """Sends a stretch of a file, without its bytes passing through here where that can be.

        The file may be closed, renamed or removed at once. If it turns out to be shorter, the
        connection ends, for the peer was promised all of it.
        """

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None:
        """Sends what was written, then closes. Takes as long as the peer does to read it."""

    def abort(self) -> None:
        """Closes at once and drops what was not sent."""


class ConnectionHandler(Protocol):
    """The owner of one connection."""

    def connected(self, connection: Connection) -> None: ...

    def get_buffer(self, size_hint: int) -> bytearray | memoryview:
        """Where to put what arrives next; never empty. `size_hint` is -1 if nobody knows."""

    def buffer_filled(self, length: int) -> None:
        """That many bytes arrived at the start of the last buffer."""

    def pause_writing(self) -> None:
        """More is waiting to be sent than the peer takes. May be called from within a write."""

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None:
        """Nothing comes after this. No error means that one of the two sides closed."""


class Listener(Protocol):
    """An open port, accepting from the start. Its connections live on when it is closed."""

    @property
    def address(self) -> Address:
        """What it listens on, with the port that was found if any would do."""

    def pause_accepting(self) -> None:
        """Leaves new connections to wait with the operating system. Makes no handler after this,
        and may be called while one is made."""

    def resume_accepting(self) -> None: ...

    def close(self) -> None: ...


class Network(Protocol):
    """Streams to and from other hosts. Errors are `OSError`s."""

    def host_name(self) -> str:
        """What this host calls itself."""

    async def listen(
        self, address: Address, make_handler: Callable[[], ConnectionHandler]
    ) -> Listener: ...

    async def connect(self, address: Address, handler: ConnectionHandler) -> Connection:
        """Returns after `handler.connected`. Waits as long as the host lets it: set a timeout."""
