"""Loads a gateway over connections with keep-alive, each of which sends its next request when the
last one is answered. A line of JSON says how many were answered, and how long they took.

python -m benchmarks.gateway.load HOST PORT CONNECTIONS SECONDS PATH BODY-FILE
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Final, cast

import uvloop

_WARM_UP_S: Final = 1.0
_SAMPLED: Final = 16
_LENGTH: Final = b"content-length: "


class Load:
    def __init__(self, host: str, port: int, path: str, body: bytes) -> None:
        method = "POST" if body else "GET"
        head = f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(body)}\r\n"
        self.request = f"{head}Content-Type: application/json\r\n\r\n".encode() + body
        self.answered = self.refused = self.bytes = self.before = 0
        self.seconds: list[float] = []

    def reset(self) -> None:
        """Begins to measure; `before` are the requests until then."""
        self.before = self.answered
        self.answered = self.refused = self.bytes = 0
        self.seconds.clear()

    def count(self, answer: bytes, seconds: float) -> None:
        self.answered += 1
        self.bytes += len(answer)
        self.refused += answer[9:12] != b"200"
        if self.answered % _SAMPLED == 0:
            self.seconds.append(seconds)


class Requests(asyncio.Protocol):
    """One connection."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._transport: asyncio.Transport
        self._received = b""
        self._began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # That of uvloop has no base class.
        self._transport = cast("asyncio.Transport", transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        received = self._received
        end = received.find(b"\r\n\r\n") + 4
        at = received.find(_LENGTH)
        if end < 4 or len(received) - end < int(received[at + len(_LENGTH) :].split(b"\r", 1)[0]):
            return
        self._load.count(received, time.perf_counter() - self._began)
        self._send()

    def _send(self) -> None:
        self._received = b""
        self._began = time.perf_counter()
        self._transport.write(self._load.request)


async def main(
    host: str, port: str, connections: str, seconds: str, path: str, body: bytes
) -> None:
    load = Load(host, int(port), path, body)
    loop = asyncio.get_running_loop()
    for _ in range(int(connections)):
        await loop.create_connection(lambda: Requests(load), host, int(port))
    await asyncio.sleep(_WARM_UP_S)  # noqa: TID251 - a program of its own
    load.reset()
    began = time.perf_counter()
    await asyncio.sleep(float(seconds))  # noqa: TID251
    took = time.perf_counter() - began
    ordered = sorted(load.seconds) or [0.0]
    print(
        json.dumps(
            {
                "per_second": load.answered / took,
                "answered_in_all": load.before + load.answered,
                "refused": load.refused,
                "bytes": load.bytes,
                "p50_ms": ordered[len(ordered) // 2] * 1e3,
                "p99_ms": ordered[int(len(ordered) * 0.99)] * 1e3,
            }
        ),
        flush=True,
    )


if __name__ == "__main__":
    host, port, connections, seconds, path, file = sys.argv[1:]
    uvloop.run(main(host, port, connections, seconds, path, Path(file).read_bytes()))
