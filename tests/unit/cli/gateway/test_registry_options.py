"""How the gateway calls a schema registry: credentials and trust from a file."""

from __future__ import annotations

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ottla.cli.exit_codes import CommandError
from ottla.cli.gateway.registry_options import registry_access
from ottla.web.gateway.rest_v2.registered_schemas import RegisteredSchemas
from ottla.web.gateway.rest_v2.registry_access import RegistryAccess

URL = "http://127.0.0.1:8081"


def read(tmp_path: Path, text: str, url: str = URL) -> RegistryAccess:
    file = tmp_path / "registry.properties"
    file.write_text(text)
    file.chmod(0o600)
    access = registry_access(url, file)
    assert access is not None
    return access


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("basic.auth.user.info=ada:a:b", "Basic YWRhOmE6Yg=="),
        ("schema.registry.basic.auth.user.info=ada:a:b", "Basic YWRhOmE6Yg=="),
        ("bearer.auth.token=abc", "Bearer abc"),
        ("bearer.auth.credentials.source=STATIC_TOKEN\nbearer.auth.token=abc", "Bearer abc"),
        ("", None),
    ],
)
def test_credentials_go_with_each_request(tmp_path: Path, text: str, sent: str | None) -> None:
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.headers.get("Authorization"))
            body = b'{"id": 7}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None: ...  # noqa: A002

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    access = read(tmp_path, text, f"http://127.0.0.1:{server.server_port}/")
    schemas = RegisteredSchemas(access)
    assert asyncio.run(schemas.register("orders-value", "AVRO", '"long"')) == 7
    thread.join()
    server.server_close()
    assert received == [sent]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("basic.auth.user.info=ada", "must be USER:PASSWORD"),
        ("basic.auth.user.info=a:b\nbearer.auth.token=c", "set the same thing"),
        ("basic.auth.credentials.source=SASL_INHERIT", "must be USER_INFO"),
        ("sasl.username=ada", "sasl.username is not supported"),
        ("ssl.ca.location=/a.pem", "has no effect"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        read(tmp_path, text)


def test_a_trust_store_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"missing\.pem"):
        read(tmp_path, "ssl.ca.location=/missing.pem", "https://registry:8081")


def test_a_file_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="needs --schema-registry"):
        registry_access(None, tmp_path / "registry.properties")
    with pytest.raises(CommandError, match="must be an address"):
        registry_access("registry:8081", None)


def test_credentials_in_plaintext_are_warned_of() -> None:
    for url, warns in (
        ("http://a:b@registry:8081", True),
        ("http://registry:8081", False),
        ("http://a:b@127.0.0.1:8081", False),
        ("https://a:b@registry:8081", False),
    ):
        warning = RegistryAccess(url).warning()
        assert (warning is not None) == warns
        assert "a:b" not in (warning or "")
