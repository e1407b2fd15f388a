"""What every program that serves HTTP does with a request."""

from __future__ import annotations

import asyncio
import http.client
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ottla.metrics import Metrics
from ottla.runtime.system_clock import SystemClock
from ottla.web.service import http_connection
from ottla.web.service.application import WebApplication, identity_of
from ottla.web.service.bodies import read_body
from ottla.web.service.identity import NoAuthentication, WebIdentity, parse_authorization
from ottla.web.service.listening import (
    HttpTls,
    ListenAddress,
    ListenError,
    check_exposure,
)
from ottla.web.service.monitoring import WebMonitoring
from ottla.web.service.paths import segment
from ottla.web.service.problems import HttpProblem
from ottla.web.service.web_server import WebServer


class OnlyAda:
    async def identify(self, authorization: str) -> WebIdentity:
        credentials = parse_authorization(authorization)
        return WebIdentity(getattr(credentials, "username", "token"), credentials)

    async def close(self) -> None: ...


async def echo(request: Request) -> Response:
    return PlainTextResponse(segment(request, "name"))


async def upload(request: Request) -> Response:
    return PlainTextResponse(str(len(await read_body(request, bytes_max=10))))


async def whoami(request: Request) -> Response:
    return PlainTextResponse(identity_of(request).name)


async def broken(_request: Request) -> Response:
    raise ZeroDivisionError


def rendered(problem: HttpProblem) -> Response:
    return PlainTextResponse(problem.message, status_code=problem.status, headers=problem.headers)


def application(*, authenticates: bool = False, not_ready: str = "") -> WebApplication:
    routes = [
        Route("/echo/{name}", echo),
        Route("/upload", upload, methods=["POST"]),
        Route("/whoami", whoami),
        Route("/broken", broken),
    ]
    monitoring = WebMonitoring(Metrics(), SystemClock(), lambda: not_ready)
    authenticator = OnlyAda() if authenticates else NoAuthentication()
    return WebApplication(routes, monitoring, authenticator, rendered, is_local=not authenticates)


def ask(
    app: WebApplication,
    method: str,
    path: str,
    body: bytes = b"",
    *,
    tls: HttpTls | None = None,
    connect: Callable[[int], http.client.HTTPConnection] | None = None,
    **headers: str,
) -> tuple[int, str, dict[str, str]]:
    """One request over a real connection."""

    def send(port: int) -> tuple[int, str, dict[str, str]]:
        connection = (connect or (lambda p: http.client.HTTPConnection("127.0.0.1", p)))(port)
        connection.request(method, path, body or None, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, text, {k.lower(): v for k, v in response.getheaders()}

    async def serve() -> Any:
        server = WebServer(app, ListenAddress("127.0.0.1", 0), tls)
        address = await server.start()
        try:
            return await asyncio.to_thread(send, address.port)
        finally:
            await server.close()

    found: tuple[int, str, dict[str, str]] = asyncio.run(serve())
    return found


def test_a_segment_may_contain_an_encoded_slash() -> None:
    assert ask(application(), "GET", "/echo/a%2Fb%25c")[1] == "a/b%c"
    assert ask(application(), "GET", "/echo/a%20b")[1] == "a b"
    assert ask(application(), "GET", "/echo/a/b")[0] == 404


def test_bodies_have_a_limit() -> None:
    assert ask(application(), "POST", "/upload", b"x" * 10)[:2] == (200, "10")
    assert ask(application(), "POST", "/upload", b"x" * 11)[0] == 413


def test_an_unexpected_error_is_answered_without_its_details(
    caplog: pytest.LogCaptureFixture,
) -> None:
    status, text, _ = ask(application(), "GET", "/broken")
    assert status == 500
    assert "ZeroDivision" not in text
    assert "ZeroDivisionError" in caplog.text


def test_health_needs_no_credentials_and_says_why_a_program_is_not_ready() -> None:
    app = application(authenticates=True, not_ready="reading the topic")
    assert ask(app, "GET", "/healthz")[:2] == (200, "ok\n")
    assert ask(app, "GET", "/readyz")[:2] == (503, "reading the topic\n")
    assert ask(app, "GET", "/metrics")[0] == 401


def test_metrics_count_requests_by_handler() -> None:
    app = application()
    ask(app, "GET", "/echo/a")
    text = ask(app, "GET", "/metrics")[1]
    assert 'ottla_http_requests_total{route="echo",method="GET",status="200"} 1' in text


def test_credentials_identify_the_caller() -> None:
    app = application(authenticates=True)
    status, _, headers = ask(app, "GET", "/whoami")
    assert status == 401
    assert headers["www-authenticate"].startswith("Basic")
    assert ask(app, "GET", "/whoami", Authorization="Basic YWRhOnNlY3JldA==")[1] == "ada"
    assert ask(app, "GET", "/whoami", Authorization="Basic ###")[0] == 401


def test_a_local_program_refuses_other_names_and_other_pages() -> None:
    assert ask(application(), "GET", "/echo/a", Host="evil.example")[0] == 403
    assert ask(application(), "GET", "/echo/a", Host="127.0.0.1.evil.example")[0] == 403
    assert ask(application(), "GET", "/echo/a", Host="localhost:80")[0] == 200
    assert ask(application(), "GET", "/echo/a", Host="[::1]:80")[0] == 200
    assert ask(application(), "GET", "/echo/a", Origin="http://evil.example")[0] == 403


def test_beyond_this_host_a_program_listens_only_with_authentication(tmp_path: Path) -> None:
    everywhere = ListenAddress.parse("0.0.0.0:8081")
    with pytest.raises(ListenError, match="--authentication"):
        check_exposure(everywhere, None, authenticates=False)
    check_exposure(everywhere, None, authenticates=True)
    check_exposure(everywhere, HttpTls(tmp_path, tmp_path, tmp_path), authenticates=False)
    check_exposure(ListenAddress.parse("8081"), None, authenticates=False)


def test_a_taken_port_is_an_error_with_the_address() -> None:
    async def twice() -> None:
        server = WebServer(application(), ListenAddress("127.0.0.1", 0))
        address = await server.start()
        try:
            with pytest.raises(ListenError, match=str(address.port)):
                await WebServer(application(), address).start()
        finally:
            await server.close()

    asyncio.run(twice())


def test_the_head_of_each_request_has_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "_HEAD_SECONDS_MAX", 0.2)

    async def slow_second() -> None:
        server = WebServer(application(), ListenAddress("127.0.0.1", 0))
        address = await server.start()
        try:
            reader, writer = await asyncio.open_connection(*address)
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert (await reader.readuntil(b"ok\n")).startswith(b"HTTP/1.1 200")
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: ")
            assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
        finally:
            await server.close()

    asyncio.run(slow_second())


def test_a_program_serves_tls(tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    found = ask(
        application(),
        "GET",
        "/echo/a",
        tls=HttpTls(certificate, key),
        connect=lambda port: http.client.HTTPSConnection("localhost", port, context=context),
    )
    assert found[:2] == (200, "a")
