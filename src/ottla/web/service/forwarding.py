"""Sends a request to another instance of the program, over connections that are kept.

The whole request is sent as it came, with the caller's credentials, so that the other
instance checks them itself. It carries a mark, so that it is forwarded once at most.
"""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any, Final, NamedTuple

import httptools

from ottla.web.service.instance_address import InstanceAddress
from ottla.web.service.listening import HttpTls, ListenError

FORWARDED: Final = "x-forward"
_TIMEOUT_S: Final = 25.0
_CONNECT_S: Final = 3.0
_KEPT_MAX: Final = 64
_READ_BYTES: Final = 64 << 10
_RESPONSE_BYTES_MAX: Final = 8 << 20


class NotForwardedError(Exception):
    """The instance did not get the request."""


class ForwardingFailedError(Exception):
    """The instance may have got the request, and its response was lost."""


class ForwardedResponse(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class InstanceClient:
    """Owned by the event loop; ended by `close`."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        """`tls` is for instances that serve HTTPS."""
        self._tls = tls
        self._kept: dict[InstanceAddress, list[_Connection]] = {}

    async def send(
        self,
        address: InstanceAddress,
        method: str,
        target: str,
        headers: dict[str, str],
        body: bytes,
        *,
        timeout_s: float = _TIMEOUT_S,
    ) -> ForwardedResponse:
        """Raises NotForwardedError or ForwardingFailedError."""
        head = [f"{method} {target} HTTP/1.1", f"host: {str(address).partition('://')[2]}"]
        head += [f"{name}: {value}" for name, value in headers.items()]
        head += [f"content-length: {len(body)}", "", ""]
        request = "\r\n".join(head).encode("latin-1") + body
        kept = self._kept.setdefault(address, [])
        while kept:
            # A kept connection may have been closed meanwhile; then the next one is tried.
            try:
                return await self._exchange(address, kept.pop(), request, timeout_s)
            except _UnusedError:
                continue
        try:
            return await self._exchange(address, await self._connect(address), request, timeout_s)
        except _UnusedError as error:
            raise ForwardingFailedError(str(error)) from None

    def close(self) -> None:
        for kept in self._kept.values():
            for connection in kept:
                connection.writer.close()
        self._kept.clear()

    async def _connect(self, address: InstanceAddress) -> _Connection:
        try:
            async with asyncio.timeout(_CONNECT_S):
                reader, writer = await asyncio.open_connection(
                    address.host,
                    address.port,
                    ssl=self._tls if address.scheme == "https" else None,
                )
        except (OSError, TimeoutError) as error:
            raise NotForwardedError(
                f"cannot connect to the instance at {address}: {error}"
            ) from None
        return _Connection(reader, writer)

    async def _exchange(
        self,
        address: InstanceAddress,
        connection: _Connection,
        request: bytes,
        timeout_s: float,
    ) -> ForwardedResponse:
        try:
            async with asyncio.timeout(timeout_s):
                response = await connection.exchange(request)
        except (_UnusedError, OSError, TimeoutError, httptools.HttpParserError) as error:
            connection.writer.close()
            if isinstance(error, _UnusedError):
                raise
            raise ForwardingFailedError(
                f"the instance at {address} did not answer: {error}"
            ) from None
        kept = self._kept.setdefault(address, [])
        if connection.is_reusable and len(kept) < _KEPT_MAX:
            kept.append(connection)
        else:
            connection.writer.close()
        return response


def peer_context(own: HttpTls | None, authority: Path | None) -> ssl.SSLContext:
    """To other instances, which may require a certificate: then it is this instance's own. Raises
    ListenError."""
    try:
        context = ssl.create_default_context(cafile=authority)
        if own is not None:
            context.load_cert_chain(own.certificate, own.key)
    except OSError as error:
        raise ListenError(f"cannot use the certificates: {error}") from None
    return context


class _UnusedError(Exception):
    """The connection ended before any byte of a response."""


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self._reader = reader
        self.is_reusable = False

    async def exchange(self, request: bytes) -> ForwardedResponse:
        self.is_reusable = False
        self.writer.write(request)
        response = _Response()
        size = 0
        while not response.is_complete:
            try:
                data = await self._reader.read(_READ_BYTES)
            except ConnectionResetError:
                data = b""
            size += len(data)
            if not data:
                raise _UnusedError("connection closed") if not size else ConnectionResetError
            if size > _RESPONSE_BYTES_MAX:
                raise OSError("its response is too large")
            response.parser.feed_data(data)
        self.is_reusable = response.parser.should_keep_alive()
        return ForwardedResponse(
            response.parser.get_status_code(), response.headers, b"".join(response.body)
        )


class _Response:
    """What httptools calls back."""

    def __init__(self) -> None:
        self.parser: Any = httptools.HttpResponseParser(self)
        self.headers: dict[str, str] = {}
        self.body: list[bytes] = []
        self.is_complete = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self.body.append(body)

    def on_message_complete(self) -> None:
        self.is_complete = True
