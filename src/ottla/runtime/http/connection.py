"""One connection of an HTTP server: one request, one response, then it closes.

receiving ──head complete──▶ responding ──body sent──▶ closed
    └───────────── refused, too late, or lost ─────────┘
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from http import HTTPStatus
from typing import Final, Protocol, TypeAlias

from ottla.runtime.clock import Clock, Timer
from ottla.runtime.http.messages import (
    HEAD_END,
    HttpRequest,
    HttpResponse,
    RefusedRequestError,
    parse_request,
    response_head,
)
from ottla.runtime.network import Connection
from ottla.runtime.tasks import Tasks

_log = logging.getLogger(__name__)

HEAD_BYTES_MAX: Final = 8 * 1024
_LAST_CHUNK: Final = b"0\r\n\r\n"

Handle: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponse]]


class HttpConnections(Protocol):
    """The server, as its connections use it."""

    def opened(self, connection: HttpConnection) -> None: ...

    def ended(self, connection: HttpConnection) -> None: ...


class HttpConnection:
    """A connection handler. `handle` makes the response; `seconds_max` limits the connection's
    whole life."""

    def __init__(
        self,
        server: HttpConnections,
        handle: Handle,
        clock: Clock,
        tasks: Tasks,
        *,
        seconds_max: float,
    ) -> None:
        self._server = server
        self._handle = handle
        self._clock = clock
        self._tasks = tasks
        self._seconds_max = seconds_max
        self._received = bytearray(HEAD_BYTES_MAX)
        self._received_bytes = 0
        self._timer: Timer | None = None
        self._responding: asyncio.Task[object] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    @property
    def is_responding(self) -> bool:
        return self._responding is not None

    def abort(self) -> None:
        self._connection.abort()

    def connected(self, connection: Connection) -> None:
        self._connection = connection
        self._timer = self._clock.call_later(self._seconds_max, connection.abort)
        self._server.opened(self)

    def get_buffer(self, size_hint: int) -> memoryview:  # noqa: ARG002 - the seam's signature
        return memoryview(self._received)[self._received_bytes :]

    def buffer_filled(self, length: int) -> None:
        self._received_bytes += length
        head, end, _ = bytes(self._received[: self._received_bytes]).partition(HEAD_END)
        is_full = self._received_bytes == HEAD_BYTES_MAX
        if not end and not is_full:
            return
        # Nothing after the first request is read.
        self._connection.pause_reading()
        self._responding = self._tasks.start("http", self._respond(head if end else None))

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def closed(self, error: Exception | None) -> None:  # noqa: ARG002 - the seam's signature
        if self._timer is not None:
            self._timer.cancel()
        if self._responding is not None:
            self._responding.cancel()
        self._server.ended(self)

    async def _respond(self, head: bytes | None) -> None:
        """Without a head, the request was longer than allowed."""
        request = None
        try:
            if head is None:
                raise RefusedRequestError(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    f"the request has more than {HEAD_BYTES_MAX} bytes",
                )
            request = parse_request(head)
            response = await self._handle(request)
        except RefusedRequestError as error:
            response = HttpResponse(f"{error}\n".encode(), error.status)
        except Exception:
            _log.exception("cannot answer an HTTP request")
            response = HttpResponse(b"internal error\n", HTTPStatus.INTERNAL_SERVER_ERROR)
        try:
            await self._send(response, request)
        except Exception:
            # The client must not take what it has got for the whole body.
            _log.exception("cannot send the rest of an HTTP response")
            self._connection.abort()
        self._connection.close()

    async def _send(self, response: HttpResponse, request: HttpRequest | None) -> None:
        is_chunked = request is not None and request.version == "HTTP/1.1"
        self._connection.write([response_head(response, is_chunked=is_chunked)])
        body = response.body
        if request is not None and request.is_head:
            return
        if isinstance(body, bytes):
            self._connection.write([body])
            return
        async with aclosing(body):
            async for piece in body:
                if piece:
                    framed = [b"%x\r\n" % len(piece), piece, b"\r\n"] if is_chunked else [piece]
                    self._connection.write(framed)
                    await self._writable.wait()
        if is_chunked:
            self._connection.write([_LAST_CHUNK])
