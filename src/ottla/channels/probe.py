"""Detects that a process has ended: nothing listens on its port any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ottla.runtime.clock import Clock
from ottla.runtime.network import Address, Connection, Network
from ottla.runtime.wakeup import Wakeup

# Limits the rate of attempts if the host accepts and closes every connection at once.
_PAUSE_SECONDS: Final = 0.02


async def is_gone(
    network: Network,
    clock: Clock,
    address: Address,
    *,
    seconds: float,
    on_met: Callable[[], None] = lambda: None,
) -> bool:
    """True only if the host refuses the connection. A host that does not respond may be slow.

    While connections are accepted it keeps trying for `seconds`, since a process that is being
    killed may release its port a moment after its connections. `on_met` is called after each
    accepted connection.
    """
    deadline = clock.monotonic() + seconds
    while (left := deadline - clock.monotonic()) > 0:
        handler = _ProbeConnection(clock)
        try:
            connection = await network.connect(address, handler)
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            pass
        except OSError:
            return False
        else:
            on_met()
            try:
                await handler.disconnected.wait(left)
            finally:
                connection.abort()
        await clock.sleep(_PAUSE_SECONDS)
    return False


class _ProbeConnection:
    """Sends nothing and waits for the connection to close."""

    def __init__(self, clock: Clock) -> None:
        self.disconnected = Wakeup(clock)

    def connected(self, connection: Connection) -> None: ...

    def get_buffer(self, size_hint: int) -> memoryview:  # noqa: ARG002 - the seam's signature
        return memoryview(bytearray(1))

    def buffer_filled(self, length: int) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None:  # noqa: ARG002 - the seam's signature
        self.disconnected.wake()
