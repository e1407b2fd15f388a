"""Tokens from an endpoint, over TLS."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from ottla.channels import ChannelError
from ottla.client_security.client_security import parse_client_security
from ottla.client_security.node_channel import channel_security

pytest.importorskip("cryptography")

URL = "sasl.oauthbearer.token.endpoint.url"
SECRET = "sasl.oauthbearer.client.credentials.client.secret"


class Endpoint(BaseHTTPRequestHandler):
    """Gives a token to the client `billing` with the right secret."""

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        identity = b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
        is_right = identity == "billing:a%3Ab" and form == "grant_type=client_credentials&scope=s"
        self.send_response(200 if is_right else 401)
        self.end_headers()
        self.wfile.write(json.dumps({"access_token": "abc.def.ghi"} if is_right else {}).encode())

    def log_message(self, *_: Any) -> None:
        pass


class QuietServer(HTTPServer):
    """A client that ends the handshake is no error of the test."""

    def handle_error(self, *_: Any) -> None:
        pass


@contextmanager
def serving(directory: Path) -> Iterator[int]:
    from ottla.cli.certs.authority import Validity, make_authority, make_server
    from ottla.cli.certs.files import write_pair

    validity = Validity(datetime(2026, 1, 1, tzinfo=UTC), 3_650)
    authority = make_authority("authority", validity)
    write_pair(directory, "ca", authority)
    write_pair(directory, "host", make_server(authority, "host", ["127.0.0.1"], validity))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "host.keystore.pem")
    with QuietServer(("127.0.0.1", 0), Endpoint) as server:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def properties(port: int, secret: str, directory: Path) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        URL: f"https://127.0.0.1:{port}/token",
        "sasl.oauthbearer.client.credentials.client.id": "billing",
        "sasl.oauthbearer.scope": "s",
        SECRET: secret,
        "ssl.truststore.location": str(directory / "ca.pem"),
        "ssl.truststore.type": "PEM",
    }


def first_message(given: dict[str, str]) -> bytes:
    security = channel_security(parse_client_security(given))
    assert security.prepare is not None
    assert security.mechanism is not None
    asyncio.run(security.prepare())
    return security.mechanism().first_message()


def test_a_token_is_requested_with_the_id_and_the_secret(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        assert b"Bearer abc.def.ghi" in first_message(properties(port, "a:b", tmp_path))


def test_a_wrong_secret_is_not_repeated_in_the_error(tmp_path: Path) -> None:
    with serving(tmp_path) as port, pytest.raises(ChannelError, match="Unauthorized") as raised:
        first_message(properties(port, "wrong-secret", tmp_path))
    assert "wrong-secret" not in str(raised.value)


def test_an_unknown_authority_is_not_trusted(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        given = properties(port, "a:b", tmp_path)
        del given["ssl.truststore.location"], given["ssl.truststore.type"]
        with pytest.raises(ChannelError, match="CERTIFICATE_VERIFY_FAILED"):
            first_message(given)
