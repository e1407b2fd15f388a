"""Reads a node's metrics page: one HTTP request over the network seam."""

from __future__ import annotations

import asyncio
from typing import Final

from ottla.cli.connection.port_probe import reason_text
from ottla.runtime.network import Address, Connection, Network

# A page of 50,000 series has 5 MB.
BYTES_MAX: Final = 128 << 20
_BUFFER_BYTES: Final = 64 << 10
_HEAD_END: Final = b"\r\n\r\n"
_OK: Final = b"200"
# The last line of a complete page in OpenMetrics.
_END: Final = "# EOF\n"


class ScrapeError(Exception):
    """The message says why there are no metrics."""


async def scrape(network: Network, address: Address, *, seconds_max: float) -> str:
    """The page as OpenMetrics. Raises ScrapeError."""
    page = _Page()
    # HTTP 1.0: the body ends with the connection.
    request = f"GET /metrics HTTP/1.0\r\nHost: {address}\r\n\r\n".encode()
    try:
        async with asyncio.timeout(seconds_max):
            connection = await network.connect(address, page)
            try:
                connection.write((request,))
                await page.ended.wait()
            finally:
                connection.abort()
    except TimeoutError:
        raise ScrapeError(f"no answer within {seconds_max:g} s") from None
    except OSError as error:
        raise ScrapeError(reason_text(error)) from None
    return _body(bytes(page.data))


def _body(response: bytes) -> str:
    head, end, body = response.partition(_HEAD_END)
    status = head.split(b" ", 2)[1:2]
    if not end or not head.startswith(b"HTTP/"):
        raise ScrapeError("no answer in HTTP" if response else "the connection was closed")
    if status != [_OK]:
        raise ScrapeError(f"HTTP status {b' '.join(status).decode('ascii', 'replace')}")
    text = body.decode(errors="replace")
    if not text.endswith(_END):
        raise ScrapeError("the page is incomplete")
    return text


class _Page:
    """A connection handler that keeps everything received, up to BYTES_MAX."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ended = asyncio.Event()
        self._buffer = bytearray(_BUFFER_BYTES)

    def connected(self, connection: Connection) -> None:
        pass

    def get_buffer(self, size_hint: int) -> bytearray:  # noqa: ARG002
        return self._buffer

    def buffer_filled(self, length: int) -> None:
        self.data += self._buffer[:length]
        if len(self.data) > BYTES_MAX:
            self.ended.set()

    def pause_writing(self) -> None:
        pass

    def resume_writing(self) -> None:
        pass

    def closed(self, error: Exception | None) -> None:  # noqa: ARG002
        self.ended.set()
