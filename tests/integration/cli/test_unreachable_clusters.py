"""Clusters that cannot be reached, and what the commands say about it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from typer.testing import CliRunner, Result

from ottla.cli.main import make_app
from tests.support.nodes.nodes import running_node


def list_topics(bootstrap: str) -> Result:
    result = CliRunner().invoke(make_app("topics"), ["topics", "list", "--bootstrap", bootstrap])
    assert result.exit_code == 3
    return result


class QuietHandler(BaseHTTPRequestHandler):
    """Knows no method, and so answers every request with an error."""

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - as it was named
        pass


@contextmanager
def http_server() -> Iterator[int]:
    """One request after the other, so that a connection which says nothing holds up the rest."""
    with HTTPServer(("127.0.0.1", 0), QuietHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def test_a_port_where_nothing_listens() -> None:
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        port = server.server_port
    assert f"127.0.0.1:{port}: connection refused" in list_topics(f"127.0.0.1:{port}").stderr


def test_a_host_that_does_not_exist() -> None:
    assert "nowhere.invalid:9092" in list_topics("nowhere.invalid:9092").stderr


def test_a_port_of_another_protocol() -> None:
    with http_server() as port:
        output = list_topics(f"127.0.0.1:{port}").stderr
    assert f"127.0.0.1:{port} does not speak Kafka's protocol: it is HTTP" in output


def test_an_advertised_address_that_leads_nowhere(tmp_path: Path) -> None:
    settings = {"advertised.listeners": "PLAINTEXT://broker.invalid:19092"}
    with running_node(tmp_path, settings=settings) as node:
        output = list_topics(node.bootstrap).stderr
    assert f"{node.bootstrap} answers, but" in output
    assert "broker 1 advertises broker.invalid:19092" in output
    assert "advertised.listeners" in output
