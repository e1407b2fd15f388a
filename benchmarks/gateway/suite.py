"""Single messages, batches of 500, and polls; what a request takes of the processor, and memory.

Node, gateway and load share the cores of the host: on two cores they compete. The processor time of
a request says what one core of the gateway's own could do.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.figure import Figure
from benchmarks.versus.process_usage import cpu_seconds, resident_bytes
from benchmarks.versus.servers import OttlaServer, fresh
from benchmarks.versus.topics import topic
from tests.support.web.gateway_process import GatewayProcess, running_gateway_process

BATCH: Final = 500
SIZE: Final = 100
CONNECTIONS: Final = 64
POSTS_MIN: Final = 8_000
MEMORY_MB_MAX: Final = 80
NATIVE_RECORDS: Final = 300_000


class Measured(NamedTuple):
    per_second: float
    p99_ms: float
    cpu_us: float


def run(*, seconds: float = 5.0) -> Iterator[Figure]:
    message = {"key": "user_123", "value": base64.b64encode(bytes(SIZE)).decode()}
    batch = {"messages": [{**message, "key": f"user_{number}"} for number in range(BATCH)]}
    with (
        fresh(OttlaServer) as server,
        tempfile.TemporaryDirectory() as scratch,
    ):
        server.start()
        with topic(server) as name, running_gateway_process(server.address) as gateway:
            bench = GatewayBench(gateway, Path(scratch), seconds)
            posts = bench.load(f"/topics/{name}/messages", message, CONNECTIONS)
            yield from _figures("single POSTs with keep-alive", posts, 1, POSTS_MIN)
            native = _native_rate(server.address, name)
            batches = bench.load(f"/topics/{name}/messages/batch", batch, 8)
            rate = batches.per_second * BATCH
            yield Figure(
                "messages in batches of 500, beside ottla.client",
                rate / 1e3,
                "k/s",
                native / 1e3,
                "at least half as fast",
                rate >= native / 2,
            )
            yield from _figures("batches of 500", batches, BATCH)
            megabytes = resident_bytes(gateway.process.pid) / 1e6
            yield Figure(
                "memory after it",
                megabytes,
                "MB",
                bound=f"below {MEMORY_MB_MAX}",
                holds=megabytes < MEMORY_MB_MAX,
            )


def _figures(
    name: str, measured: Measured, messages: int, least: float | None = None
) -> Iterator[Figure]:
    if least is not None:
        holds = measured.per_second >= least
        bound = f"at least {least:,.0f}"
        yield Figure(name, measured.per_second, "/s", bound=bound, holds=holds)
    yield Figure(f"{name}: p99", measured.p99_ms, "ms")
    yield Figure(f"{name}: the gateway's processor time", measured.cpu_us / messages, "us/message")


class GatewayBench:
    def __init__(self, gateway: GatewayProcess, scratch: Path, seconds: float) -> None:
        self._gateway = gateway
        self._scratch = scratch
        self._seconds = seconds

    def load(self, path: str, body: Any, connections: int) -> Measured:
        file = self._scratch / "body.json"
        file.write_text(json.dumps(body))
        gateway = self._gateway
        arguments = [gateway.host, gateway.port, connections, self._seconds, path, file]
        before = cpu_seconds(gateway.process.pid)
        found = json.loads(_output("benchmarks.gateway.load", *map(str, arguments)))
        spent = cpu_seconds(gateway.process.pid) - before
        assert not found["refused"], found
        cpu_us = spent / found["answered_in_all"] * 1e6
        return Measured(found["per_second"], found["p99_ms"], cpu_us)


def _native_rate(address: str, name: str) -> float:
    """Records a second of Ottla's own client, one `send` for each."""
    arguments = ("ottla", "produce", address, name, str(NATIVE_RECORDS), str(SIZE))
    return float(json.loads(_output("benchmarks.client.loads", *arguments))["value"])


def _output(module: str, *arguments: str) -> str:
    found = subprocess.run(
        [sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return found.stdout
