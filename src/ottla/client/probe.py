"""Whether anybody listens at an address: a process that has ended is known by its closed port."""

from __future__ import annotations

from ottla.runtime.network import Address, Connection, Network


async def is_listening(network: Network, address: Address) -> bool:
    """False only if the host says that nobody does. One that does not answer may be slow."""
    try:
        await network.connect(address, _Visitor())
    except ConnectionRefusedError:
        return False
    except OSError:
        return True
    return True


class _Visitor:
    """Leaves as soon as it has come."""

    def connected(self, connection: Connection) -> None:
        connection.abort()

    def get_buffer(self, size_hint: int) -> memoryview:  # noqa: ARG002 - the seam's signature
        return memoryview(bytearray(1))

    def buffer_filled(self, length: int) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def closed(self, error: Exception | None) -> None: ...
