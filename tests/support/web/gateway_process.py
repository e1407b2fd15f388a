"""`ottla gateway` in a process of its own, and calls of it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.support.nodes.nodes import OTTLA

_TIMEOUT_S = 60.0
_READY = re.compile(r"Ready on https?://(?P<host>[^:/ ]+):(?P<port>\d+) ")


class HttpAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class GatewayProcess:
    """It belongs to `running_gateway_process`."""

    def __init__(self, process: subprocess.Popen[str], host: str, port: int) -> None:
        self.process = process
        # Of the calls; None for a gateway without TLS.
        self.tls: ssl.SSLContext | None = None
        self.host = host
        self.port = port

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> HttpAnswer:
        """Bytes are sent as they are, everything else as JSON."""
        connection = self._connection()
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        try:
            connection.request(method, path, content, dict(headers or {}))
            response = connection.getresponse()
            return HttpAnswer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Any:
        """The answer's JSON. Fails unless the status is 200."""
        return self._checked(self.call("GET", path, None, headers))

    def post(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        return self._checked(self.call("POST", path, body, headers))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _connection(self) -> http.client.HTTPConnection:
        if self.tls is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=_TIMEOUT_S)
        return http.client.HTTPSConnection(
            self.host, self.port, timeout=_TIMEOUT_S, context=self.tls
        )

    def _checked(self, answer: HttpAnswer) -> Any:
        assert answer.status in (200, 204), (answer.status, answer.content)
        return answer.json if answer.content else None


@contextmanager
def running_gateway_process(
    bootstrap: str, options: Sequence[str] = ()
) -> Iterator[GatewayProcess]:
    """Runs a gateway while the body does its work, then stops it by SIGTERM. It has to end well."""
    command = [
        str(OTTLA),
        "gateway",
        f"--bootstrap-server={bootstrap}",
        "--listen=127.0.0.1:0",
        *options,
    ]
    with tempfile.TemporaryFile("w+") as stderr:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, "COLUMNS": "200"},
        )
        assert process.stdout is not None
        try:
            ready = _READY.match(process.stdout.readline())
            if ready is None:
                process.wait(_TIMEOUT_S)
                stderr.seek(0)
                raise AssertionError(f"the gateway did not start: {stderr.read()}")
            yield GatewayProcess(process, ready["host"], int(ready["port"]))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            code = process.wait(_TIMEOUT_S)
            process.stdout.close()
        stderr.seek(0)
        log = stderr.read()
        assert code in (0, -signal.SIGKILL), log
        assert "Traceback" not in log, log
