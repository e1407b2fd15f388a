"""Knocks on ports: is anybody there, and is it something else than a broker?

A Kafka client that cannot connect tries again until its time is up. A person at a terminal should
be told at once, and told why.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
from collections.abc import Iterable
from typing import Final, Protocol

from ottla.cli.connection.bootstrap_addresses import address_text
from ottla.runtime.network import Address, Connection, ConnectionHandler

CONNECT_TIMEOUT_S: Final = 3.0
ANSWER_TIMEOUT_S: Final = 1.0
ANSWER_BYTES_MAX: Final = 64
# To a broker this is a frame of more than a gigabyte, and it hangs up.
HTTP_REQUEST: Final = b"GET / HTTP/1.0\r\n\r\n"
REASONS: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "the network is unreachable",
    errno.ETIMEDOUT: "no answer",
}


class Connector(Protocol):
    """The one thing that a probe needs of a network."""

    async def connect(self, address: Address, handler: ConnectionHandler) -> Connection: ...


class PortProbe:
    """Opens connections through a network and closes them again. Has no state of its own."""

    def __init__(self, network: Connector) -> None:
        self._network = network

    def why_unreachable(self, addresses: Iterable[Address]) -> dict[Address, str]:
        """The addresses that take no connection, each with the reason."""
        return asyncio.run(self._why_unreachable(dict.fromkeys(addresses)))

    def other_protocol(self, address: Address) -> str | None:
        """What listens there, if it gives itself away as something else than a broker."""
        return asyncio.run(self._other_protocol(address))

    async def _why_unreachable(self, addresses: Iterable[Address]) -> dict[Address, str]:
        asked = tuple(addresses)
        reasons = await asyncio.gather(*map(self._why_one_unreachable, asked))
        return {
            address: reason
            for address, reason in zip(asked, reasons, strict=True)
            if reason is not None
        }

    async def _why_one_unreachable(self, address: Address) -> str | None:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                connection = await self._network.connect(address, FirstWords())
        except TimeoutError:
            return f"no answer within {CONNECT_TIMEOUT_S:.0f} s"
        except OSError as error:
            return reason_text(error)
        connection.abort()
        return None

    async def _other_protocol(self, address: Address) -> str | None:
        words = FirstWords()
        with contextlib.suppress(OSError):
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                connection = await self._network.connect(address, words)
                try:
                    connection.write((HTTP_REQUEST,))
                    await words.heard.wait()
                finally:
                    connection.abort()
        return protocol_of(bytes(words.said))


class FirstWords:
    """A connection's handler that keeps the beginning of what the other side says."""

    def __init__(self) -> None:
        self.said = bytearray()
        self.heard = asyncio.Event()
        self._buffer = bytearray(ANSWER_BYTES_MAX)

    def connected(self, connection: Connection) -> None:
        pass

    def get_buffer(self, size_hint: int) -> bytearray:  # noqa: ARG002
        return self._buffer

    def buffer_filled(self, length: int) -> None:
        self.said += self._buffer[:length]
        self.heard.set()

    def pause_writing(self) -> None:
        pass

    def resume_writing(self) -> None:
        pass

    def closed(self, error: Exception | None) -> None:  # noqa: ARG002
        self.heard.set()


def protocol_of(said: bytes) -> str | None:
    """A server's protocol by what it says to an HTTP request; None if that tells nothing."""
    if said.startswith(b"HTTP/"):
        return "HTTP"
    if said.startswith((b"\x15\x03", b"\x16\x03")):
        return "TLS"
    if said.startswith(b"SSH-"):
        return "SSH"
    text = said.decode("ascii", errors="replace").strip()
    return f"something that says {text!r}" if text.isprintable() and text else None


def reason_text(error: OSError) -> str:
    if error.errno in REASONS:
        return REASONS[error.errno]
    # Of several addresses of one name asyncio reports all failures in one error without a number.
    for number, reason in REASONS.items():
        if error.errno is None and f"[Errno {number}]" in str(error):
            return reason
    return (error.strerror or str(error)).lower()


def unreachable_text(reasons: dict[Address, str]) -> str:
    return "; ".join(f"{address_text(address)}: {reason}" for address, reason in reasons.items())
