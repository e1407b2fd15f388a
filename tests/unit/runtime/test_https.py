"""An HTTPS request ends in time, takes no more than it may, and trusts no stranger."""

from __future__ import annotations

import socket  # noqa: TID251
import time
from contextlib import suppress

import pytest

from ottla.configs.value import Password
from ottla.runtime.https import send_https
from ottla.runtime.https_request import HttpContent, HttpsError, HttpsRequest
from tests.support.security.web_server import Responder, WebServer, ok

BYTES_MAX = 1_000


def fetched(server: WebServer, request: HttpsRequest | None = None) -> bytes:
    return send_https(
        request or HttpsRequest(server.url()), bytes_max=BYTES_MAX, context=server.trusting
    )


def refusal(respond: Responder | bytes, *, has_tls: bool = True, seconds: float = 5.0) -> str:
    with WebServer(respond, has_tls=has_tls) as server:
        request = HttpsRequest(
            server.url("/secret-path?secret=query"), connect_seconds_max=5, seconds_max=seconds
        )
        with pytest.raises(HttpsError) as refused:
            fetched(server, request)
    assert "secret" not in str(refused.value)
    return str(refused.value)


def test_body_is_returned() -> None:
    with WebServer(ok(b"x" * BYTES_MAX)) as server:
        assert fetched(server, HttpsRequest(server.url("/keys?v=1"))) == b"x" * BYTES_MAX
        assert server.requests[0].startswith(b"GET /keys?v=1 HTTP/1.1\r\n")


def test_form_and_authorization_are_sent() -> None:
    with WebServer(ok(b"{}")) as server:
        request = HttpsRequest(
            server.url(), form=Password("a=b"), authorization=Password("Basic c2VjcmV0")
        )
        assert "c2VjcmV0" not in repr(request)
        fetched(server, request)
        (sent,) = server.requests
        assert sent.startswith(b"POST / HTTP/1.1\r\n")
        assert b"\r\nAuthorization: Basic c2VjcmV0\r\n" in sent
        assert sent.endswith(b"\r\n\r\na=b")


def test_other_content_is_sent_with_its_headers_and_without_tls_only_where_it_may() -> None:
    with WebServer(ok(b"{}"), has_tls=False) as server:
        content = HttpContent("text/x", b"body", {"X-Key": Password("secret")})
        request = HttpsRequest(
            server.url("/v1").replace("https:", "http:"), content=content, allows_plaintext=True
        )
        assert "secret" not in repr(request)
        fetched(server, request)
        (sent,) = server.requests
        assert sent.startswith(b"POST /v1 HTTP/1.1\r\n")
        assert b"\r\nContent-Type: text/x\r\n" in sent
        assert b"\r\nX-Key: secret\r\n" in sent
        assert sent.endswith(b"\r\n\r\nbody")


def test_server_of_an_unknown_authority_is_not_trusted() -> None:
    with WebServer(ok(b"")) as server, pytest.raises(HttpsError, match="not trusted"):
        send_https(HttpsRequest(server.url()), bytes_max=BYTES_MAX)
    assert server.requests == []


def test_server_of_another_name_is_not_trusted() -> None:
    with WebServer(ok(b"")) as server, pytest.raises(HttpsError, match="not trusted"):
        fetched(server, HttpsRequest(server.url(host="127.0.0.1")))
    assert server.requests == []


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "status 500"),
        (b"HTTP/1.1 302 Found\r\nLocation: https://stranger.example/\r\n\r\n", "status 302"),
        (ok(b"x" * (BYTES_MAX + 1)), "larger than 1000 bytes"),
        (ok(b"x" * 10, length=20), "ended early"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5_000, "larger than 1000 bytes"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nfffff\r\nx",
            "did not respond with HTTP",
        ),
        (b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 100_000, "did not respond with HTTP"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200, "did not respond with HTTP"),
        (b"secret nonsense\r\n\r\n", "did not respond with HTTP"),
        (b"", "did not respond with HTTP"),
    ],
)
def test_response_that_is_not_expected_is_refused(response: bytes, message: str) -> None:
    assert message in refusal(response)


def wait(_request: bytes, peer: socket.socket) -> None:
    peer.recv(1)


def test_silence_has_a_deadline() -> None:
    assert "no response within 0.2 s" in refusal(wait, seconds=0.2)


def test_slow_response_has_a_deadline() -> None:
    def drip(_request: bytes, peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")
        with suppress(OSError):
            for _ in range(900):
                peer.sendall(b"x")
                time.sleep(0.01)

    started = time.monotonic()  # noqa: TID251
    assert "no response within 0.2 s" in refusal(drip, seconds=0.2)
    assert time.monotonic() - started < 5  # noqa: TID251


def test_server_without_tls_is_refused() -> None:
    assert "TLS failed" in refusal(b"HTTP/1.1 200 OK\r\n\r\nplain", has_tls=False)


def test_handshake_has_a_deadline() -> None:
    assert "no response within 0.2 s" in refusal(wait, has_tls=False, seconds=0.2)


def test_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(HttpsError, match="localhost: "):
        send_https(HttpsRequest(f"https://localhost:{port}/"), bytes_max=1)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "ftp://localhost/",
        "https:///keys",
        "https://user:secret@localhost/",
        "https://[::1",
        "https://localhost:99999/",
        "https://localhost/a b",
        "https://localhost/\r\nHost: x",
        "localhost",
    ],
)
def test_url_that_is_not_safe_is_refused(url: str) -> None:
    with pytest.raises(HttpsError) as refused:
        send_https(HttpsRequest(url), bytes_max=1)
    assert "secret" not in str(refused.value)
