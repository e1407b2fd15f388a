"""An HTTP server for pages that are read: what it answers, what it refuses, and its limits."""

from __future__ import annotations

import asyncio
import logging
import socket  # noqa: TID251 - the client stands outside of the seams
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from http.client import HTTPResponse
from io import BytesIO
from typing import Any

import pytest

from ottla.runtime.http.connection import HEAD_BYTES_MAX
from ottla.runtime.http.messages import (
    HttpRequest,
    HttpResponse,
    RefusedRequestError,
    parse_request,
)
from ottla.runtime.http.server import CONNECTIONS_MAX, HttpServer
from ottla.runtime.network import Address
from ottla.runtime.system_clock import SystemClock
from ottla.runtime.system_network import SystemNetwork

ANY_PORT = Address("127.0.0.1", 0)
GET = b"GET /page?x=1 HTTP/1.1\r\nHost: a\r\nAccept: text/plain\r\n\r\n"


async def answer(request: HttpRequest) -> HttpResponse:
    if request.path == "/error":
        raise ValueError("a bug")
    if request.path == "/many":
        return HttpResponse(pieces(), content_type="text/html")
    accept = request.headers.get("accept", "")
    return HttpResponse(f"{request.method} {request.path} {accept}".encode(), HTTPStatus.ACCEPTED)


async def pieces() -> AsyncGenerator[bytes, None]:
    for piece in (b"one", b"", b" two"):
        yield piece


def play(
    scene: Callable[[Address], Awaitable[Any]],
    *,
    handle: Callable[[HttpRequest], Awaitable[HttpResponse]] = answer,
    seconds_max: float = 30.0,
) -> Any:
    async def run() -> Any:
        server = HttpServer(SystemNetwork(), SystemClock(), handle, seconds_max=seconds_max)
        try:
            return await scene(await server.open(ANY_PORT))
        finally:
            await server.close()

    return asyncio.run(run())


class Client:
    """A client's end of a connection."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._socket = socket.socket()
        self._socket.setblocking(False)

    @classmethod
    @asynccontextmanager
    async def connect(cls, address: Address) -> AsyncIterator[Client]:
        client = cls()
        try:
            await client._loop.sock_connect(client._socket, address)
            yield client
        finally:
            client._socket.close()

    async def send(self, data: bytes) -> None:
        await self._loop.sock_sendall(self._socket, data)

    async def read(self) -> bytes:
        """Everything up to the end of the connection."""
        received = b""
        while data := await self._loop.sock_recv(self._socket, 1 << 16):
            received += data
        return received


async def exchange(address: Address, sent: bytes) -> bytes:
    async with Client.connect(address) as client:
        await client.send(sent)
        return await client.read()


def read(received: bytes, *, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body, as Python's own client understands them."""

    class Socket:
        def makefile(self, _mode: str) -> BytesIO:
            return BytesIO(received)

    response = HTTPResponse(Socket(), method=method)  # type: ignore[arg-type]
    response.begin()
    return response.status, dict(response.headers), response.read()


def ask(sent: bytes, *, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    return read(play(lambda address: exchange(address, sent)), method=method)


def test_a_page_is_answered_and_the_connection_closed() -> None:
    status, headers, body = ask(GET)
    assert (status, body) == (202, b"GET /page text/plain")
    assert headers["Connection"] == "close"
    assert headers["Content-Length"] == str(len(body))


def test_head_has_the_same_head_and_no_body() -> None:
    status, headers, body = ask(GET.replace(b"GET", b"HEAD"), method="HEAD")
    assert (status, headers["Content-Length"], body) == (202, "21", b"")


def test_a_generated_body_is_sent_in_chunks() -> None:
    _, headers, body = ask(b"GET /many HTTP/1.1\r\n\r\n")
    assert headers["Transfer-Encoding"] == "chunked"
    assert (headers["Content-Type"], body) == ("text/html", b"one two")


def test_a_client_of_http_1_0_gets_no_chunks() -> None:
    _, headers, body = ask(b"GET /many HTTP/1.0\r\n\r\n")
    assert "Transfer-Encoding" not in headers
    assert body == b"one two"


def test_a_request_may_arrive_byte_by_byte() -> None:
    async def scene(address: Address) -> bytes:
        async with Client.connect(address) as client:
            for at in range(len(GET)):
                await client.send(GET[at : at + 1])
                await SystemClock().sleep(0)
            return await client.read()

    assert read(play(scene))[0] == 202


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"POST / HTTP/1.1\r\n\r\n", 405),
        (b"GET / HTTP/2.0\r\n\r\n", 505),
        (b"GET /\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"GET http://a/ HTTP/1.1\r\n\r\n", 400),
        (b"GET /\x00 HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA : b\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 413),
        (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nA: ".ljust(HEAD_BYTES_MAX, b"b"), 431),
    ],
)
def test_what_is_not_a_plain_read_is_refused_with_a_reason(sent: bytes, status: int) -> None:
    found, _, body = ask(sent)
    assert found == status
    assert body.endswith(b"\n")


def test_repeated_headers_are_joined() -> None:
    request = parse_request(b"GET / HTTP/1.1\r\nAccept: a\r\nACCEPT: b")
    assert request.headers == {"accept": "a, b"}
    with pytest.raises(RefusedRequestError):
        parse_request(b"")


def test_an_error_of_the_page_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        status, _, body = ask(b"GET /error HTTP/1.1\r\n\r\n")
    assert (status, body) == (500, b"internal error\n")
    assert "a bug" in caplog.text


def test_a_body_that_cannot_be_generated_is_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_request: HttpRequest) -> HttpResponse:
        async def body() -> AsyncGenerator[bytes, None]:
            yield b"one"
            raise ValueError("a bug")

        return HttpResponse(body())

    received = play(lambda address: exchange(address, GET), handle=broken)
    assert received.endswith(b"3\r\none\r\n")
    assert "a bug" in caplog.text


def test_a_client_that_sends_nothing_is_disconnected_in_time() -> None:
    async def scene(address: Address) -> bytes:
        return await exchange(address, b"GET / HT")

    assert play(scene, seconds_max=0.05) == b""


def test_a_client_that_does_not_read_is_disconnected_in_time() -> None:
    produced = 0
    ended = asyncio.Event()

    async def endless(_request: HttpRequest) -> HttpResponse:
        async def body() -> AsyncGenerator[bytes, None]:
            nonlocal produced
            try:
                while True:
                    produced += 1
                    yield bytes(1 << 16)
            finally:
                ended.set()

        return HttpResponse(body())

    async def scene(address: Address) -> None:
        async with Client.connect(address) as client:
            await client.send(GET)
            await ended.wait()

    play(scene, handle=endless, seconds_max=0.2)
    # What fits into the buffers of both sides.
    assert produced < 1_000


def test_a_connection_too_many_closes_the_oldest_that_is_silent() -> None:
    async def scene(address: Address) -> int:
        async with AsyncExitStack() as stack:
            silent = [
                await stack.enter_async_context(Client.connect(address))
                for _ in range(CONNECTIONS_MAX)
            ]
            status = read(await exchange(address, GET))[0]
            assert await silent[0].read() == b""
            return status

    assert play(scene) == 202


def test_closing_the_server_ends_what_is_being_served() -> None:
    async def run() -> None:
        started = asyncio.Event()

        async def never(_request: HttpRequest) -> HttpResponse:
            started.set()
            await asyncio.Event().wait()
            raise AssertionError

        server = HttpServer(SystemNetwork(), SystemClock(), never)
        async with Client.connect(await server.open(ANY_PORT)) as client:
            await client.send(GET)
            await started.wait()
            await server.close()
            assert await client.read() == b""

    asyncio.run(run())
