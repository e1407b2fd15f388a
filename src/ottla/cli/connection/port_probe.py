"""Probes ports: is one open, and does it have another protocol than Kafka's?

A Kafka client that cannot connect retries until its timeout. A user at a terminal should see the
reason at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ssl
from collections.abc import Iterable
from typing import Final, Protocol

from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.runtime.network import Address, Connection, ConnectionHandler

CONNECT_TIMEOUT_S: Final = 3.0
ANSWER_TIMEOUT_S: Final = 1.0
ANSWER_BYTES_MAX: Final = 64
# A broker reads this as a frame of more than a gigabyte and closes the connection.
HTTP_REQUEST: Final = b"GET / HTTP/1.0\r\n\r\n"
REASONS: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "the network is unreachable",
    errno.ETIMEDOUT: "no answer",
}


class Connector(Protocol):
    """The part of a network that a probe needs."""

    async def connect(self, address: Address, handler: ConnectionHandler) -> Connection: ...


class PortProbe:
    """Opens connections through a network and closes them again. It has no state."""

    def __init__(self, network: Connector) -> None:
        self._network = network

    async def why_unreachable(self, addresses: Iterable[Address]) -> dict[Address, str]:
        """The addresses that refuse connections, each with the reason."""
        probed = tuple(dict.fromkeys(addresses))
        reasons = await asyncio.gather(*map(self._why_one_unreachable, probed))
        return {
            address: reason
            for address, reason in zip(probed, reasons, strict=True)
            if reason is not None
        }

    async def _why_one_unreachable(self, address: Address) -> str | None:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                connection = await self._network.connect(address, FirstBytes())
        except TimeoutError:
            return f"no answer within {CONNECT_TIMEOUT_S:.0f} s"
        except OSError as error:
            return reason_text(error)
        connection.abort()
        return None

    async def other_protocol(self, address: Address) -> str | None:
        """The protocol of the port, if it is recognizably not Kafka's; else None. Not every server
        with TLS answers to what is not TLS, so it is greeted in both ways."""
        for question in (HTTP_REQUEST, client_hello()):
            protocol = protocol_of(await self._answer(address, question))
            if protocol is not None:
                return protocol
        return None

    async def _answer(self, address: Address, question: bytes) -> bytes:
        first_bytes = FirstBytes()
        with contextlib.suppress(OSError):
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                connection = await self._network.connect(address, first_bytes)
                try:
                    connection.write((question,))
                    await first_bytes.received.wait()
                finally:
                    connection.abort()
        return bytes(first_bytes.data)


class FirstBytes:
    """A connection handler that keeps the first bytes received."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.received = asyncio.Event()
        self._buffer = bytearray(ANSWER_BYTES_MAX)

    def connected(self, connection: Connection) -> None:
        pass

    def get_buffer(self, size_hint: int) -> bytearray:  # noqa: ARG002
        return self._buffer

    def buffer_filled(self, length: int) -> None:
        self.data += self._buffer[:length]
        self.received.set()

    def pause_writing(self) -> None:
        pass

    def resume_writing(self) -> None:
        pass

    def closed(self, error: Exception | None) -> None:  # noqa: ARG002
        self.received.set()


def client_hello() -> bytes:
    """The first message of a TLS handshake. Nothing is sent after it, so nothing is trusted. A
    broker's plaintext listener reads it as a frame of hundreds of megabytes, too."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def protocol_of(received: bytes) -> str | None:
    """A server's protocol, from its response to an HTTP request; None if it is unknown."""
    if received.startswith(b"HTTP/"):
        return "HTTP"
    if received.startswith((b"\x15\x03", b"\x16\x03")):
        return "TLS"
    if received.startswith(b"SSH-"):
        return "SSH"
    text = received.decode("ascii", errors="replace").strip()
    return f"a service that responds with {text!r}" if text.isprintable() and text else None


def reason_text(error: OSError) -> str:
    if error.errno in REASONS:
        return REASONS[error.errno]
    # If a name has several addresses, asyncio reports all failures in one error without errno.
    for number, reason in REASONS.items():
        if error.errno is None and f"[Errno {number}]" in str(error):
            return reason
    return (error.strerror or str(error)).lower()


def unreachable_text(reasons: dict[Address, str]) -> str:
    return "; ".join(f"{address_text(address)}: {reason}" for address, reason in reasons.items())
