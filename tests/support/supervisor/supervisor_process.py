"""Supervisors of fake pipelines, in processes of their own."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple

SECONDS_MAX = 90.0


class Answer(NamedTuple):
    status: int
    body: Any


class SupervisorProcess:
    """`stop` or `kill` it."""

    def __init__(self, bootstrap: str, directory: Path) -> None:
        with (directory / "supervisors.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.supervisor", bootstrap, str(directory)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("Ready on http://"), (directory / "supervisors.log").read_text()
        self.port = int(line.rpartition(":")[2])
        self.worker = f"127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        try:
            content = None if body is None else json.dumps(body)
            given = {"content-type": "application/json", **headers}
            connection.request(method, path, content, given)
            response = connection.getresponse()
            text = response.read().decode()
            kind = response.headers.get_content_type()
            return Answer(response.status, json.loads(text) if kind.endswith("json") else text)
        finally:
            connection.close()

    def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"/connectors/{name}/status").body
        return found

    def wait_state(self, name: str, state: str) -> dict[str, Any]:
        return self.wait_status(name, lambda each: each["connector"]["state"] == state)

    def wait_status(self, name: str, is_so: Any) -> dict[str, Any]:
        deadline = perf_counter() + SECONDS_MAX
        while not is_so(found := self.status(name)):
            assert perf_counter() < deadline, found
            sleep(0.05)
        return found

    def stop(self) -> int:
        self.process.terminate()
        return self._ended()

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def _ended(self) -> int:
        assert self.process.stdout is not None
        self.process.stdout.close()
        return self.process.wait(SECONDS_MAX)
