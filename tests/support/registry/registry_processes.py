"""Instances of the registry in processes of their own, as `ottla registry` runs them."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any, NamedTuple

START_SECONDS_MAX = 30.0


class Answer(NamedTuple):
    status: int
    body: Any


def _decoded(text: str) -> Any:
    """Also of a schema alone, which may be Protobuf."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class RegistryProcess:
    """Ends with the test."""

    def __init__(self, bootstrap: str, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "ottla",
                "registry",
                "--bootstrap-server",
                bootstrap,
                "--listen",
                "127.0.0.1:0",
                *arguments,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("Ready on http"), line
        self._scheme = line.split()[2].partition(":")[0]
        # Of requests to an instance with TLS.
        self.tls: ssl.SSLContext | None = None
        self.port = int(line.split()[2].rpartition(":")[2])

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Raises OSError if the process is gone."""
        connection = self._connection()
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, {"content-type": "application/json", **headers})
            response = connection.getresponse()
            data = response.read()
            return Answer(response.status, _decoded(data.decode()))
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self.tls is None:
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.tls)

    def register(self, subject: str, schema: object, **more: object) -> Answer:
        body = {"schema": schema if isinstance(schema, str) else json.dumps(schema), **more}
        return self.ask("POST", f"/subjects/{subject}/versions", body)

    def is_writer(self) -> bool:
        return "\nottla_registry_writer 1" in str(
            self.ask("GET", "/metrics", accept="text/plain").body
        )

    def wait_ready(self) -> None:
        deadline = perf_counter() + START_SECONDS_MAX
        while self.ask("GET", "/readyz").status != 200:
            assert perf_counter() < deadline, self.ask("GET", "/readyz")
            sleep(0.02)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        if self._process.poll() is None:
            self._process.terminate()
        code = self._process.wait(START_SECONDS_MAX)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code


@contextmanager
def running_registries(
    bootstrap: str, count: int, *arguments: str, tls: ssl.SSLContext | None = None
) -> Iterator[list[RegistryProcess]]:
    registries: list[RegistryProcess] = []
    try:
        for _ in range(count):
            registries.append(RegistryProcess(bootstrap, *arguments))
            registries[-1].tls = tls
        for each in registries:
            each.wait_ready()
        yield registries
    finally:
        for each in registries:
            each.stop()
