"""The registry's client against servers that answer badly, late or not at all."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ottla.client.schemas import (
    RegistryError,
    RegistryUnavailableError,
    SchemaLink,
    SchemaRegistryClient,
)
from ottla.client.schemas.codecs import collect
from ottla.client.schemas.registry_http import ANSWER_BYTES_MAX
from tests.support.nodes.cluster_processes import free_ports

Answer = Callable[[str], tuple[int, bytes]]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.paths: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        status, data = self.server.answer(self.path)
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    with Server(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def string_schema(_path: str) -> tuple[int, bytes]:
    return 200, json.dumps({"schema": '"string"'}).encode()


def test_an_answer_over_16_mib_is_refused_by_its_size() -> None:
    schema = json.dumps({"schema": "x" * ANSWER_BYTES_MAX}).encode()
    with serving(lambda _: (200, schema)) as server:
        registry = SchemaRegistryClient(server.url)
        with pytest.raises(RegistryError, match="larger than 16 MiB"):
            asyncio.run(registry.by_id(1))


@pytest.mark.parametrize(
    ("status", "data", "message"),
    [
        (200, b"<html>", "is http://.* a schema registry"),
        (200, b"[]", "JSON object"),
        (200, b"{}", "'schema'"),
        (200, b'{"schema": 1}', "'schema'"),
        (200, b'{"schema": "x", "references": [{"name": "y"}]}', "references"),
        (500, b"<html>", "status 500"),
        (401, b'{"error_code": 40101, "message": "who?"}', "who"),
        (404, b'{"error_code": "x", "message": "none"}', "none"),
    ],
)
def test_an_answer_that_cannot_be_used_is_named(status: int, data: bytes, message: str) -> None:
    with serving(lambda _: (status, data)) as server:
        with pytest.raises(RegistryError, match=message) as caught:
            asyncio.run(SchemaRegistryClient(server.url).by_id(1))
        assert caught.value.status in (status, -1)
        assert not caught.value.retriable


def test_the_next_address_answers_where_one_does_not() -> None:
    nobody = f"http://me:secret@127.0.0.1:{free_ports(1)[0]}"
    with serving(string_schema) as server:
        both = SchemaRegistryClient(f"{nobody}, {server.url}")
        assert asyncio.run(both.by_id(1)).text == '"string"'
    with pytest.raises(RegistryUnavailableError) as caught:
        asyncio.run(SchemaRegistryClient(nobody).by_id(1))
    assert caught.value.retriable
    assert "secret" not in str(caught.value)


def test_callers_at_once_share_a_request_and_failures_are_not_kept() -> None:
    statuses = iter((500, 200))

    def fails_once(path: str) -> tuple[int, bytes]:
        return next(statuses), string_schema(path)[1]

    async def story(registry: SchemaRegistryClient) -> None:
        both = await asyncio.gather(registry.by_id(1), registry.by_id(1), return_exceptions=True)
        assert [type(each) for each in both] == [RegistryError, RegistryError]
        assert (await registry.by_id(1)).id == (await registry.by_id(1)).id == 1

    with serving(fails_once) as server:
        asyncio.run(story(SchemaRegistryClient(server.url)))
        assert len(server.paths) == 2


def test_schemas_that_refer_to_each_other_are_collected_once() -> None:
    def circular(path: str) -> tuple[int, bytes]:
        other = "b" if "/a/" in path or "/ids/" in path else "a"
        link = SchemaLink(other, other, 1)._asdict()
        return 200, json.dumps({"schema": other, "references": [link]}).encode()

    async def story(registry: SchemaRegistryClient) -> None:
        found = await collect(registry, await registry.by_id(1))
        assert sorted(found.references) == ["a", "b"]

    with serving(circular) as server:
        asyncio.run(story(SchemaRegistryClient(server.url)))
        assert all("deleted=true" in each for each in server.paths[1:])
