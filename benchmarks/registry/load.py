"""Loads a registry over connections that are kept, each with one request at a time, from a process
of its own. A line of JSON says how many requests were answered, and how many of them a second.

python -m benchmarks.registry.load PORT CONNECTIONS SECONDS read ID
python -m benchmarks.registry.load PORT CONNECTIONS SECONDS register PREFIX
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from time import perf_counter
from typing import Final, cast

import uvloop

from benchmarks.registry.schemas import schema_text

_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length:"
_WARM_UP_S: Final = 1.0


def http_request(method: str, path: str, body: bytes = b"") -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def registrations(prefix: str) -> Iterator[bytes]:
    """Each a new schema in a subject of its own."""
    template = json.dumps({"schema": schema_text(0)})
    for number in count(1):
        body = template.replace("R0", f"R{number}").encode()
        yield http_request("POST", f"/subjects/{prefix}{number}/versions", body)


class _Connection(asyncio.Protocol):
    def __init__(self, load: _Load) -> None:
        self._load = load
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # That of uvloop has no base class.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._load.next_request())

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = self._received.partition(_HEAD_END)
        if not found:
            return
        lowered = head.lower()
        begin = lowered.index(_LENGTH) + len(_LENGTH)
        if len(rest) < int(lowered[begin:].split(b"\r\n", 1)[0]):
            return
        self._received = b""
        self._load.answered(head)
        assert self._transport is not None
        self._transport.write(self._load.next_request())


class _Load:
    def __init__(self, next_request: Callable[[], bytes]) -> None:
        self.next_request = next_request
        self.count = 0
        self.failures = 0

    def answered(self, head: bytes) -> None:
        self.count += 1
        self.failures += not head.startswith(b"HTTP/1.1 200")


async def main(
    port: int, connections: int, seconds: float, next_request: Callable[[], bytes]
) -> None:
    load = _Load(next_request)
    loop = asyncio.get_running_loop()
    for _ in range(connections):
        await loop.create_connection(lambda: _Connection(load), "127.0.0.1", port)
    await asyncio.sleep(_WARM_UP_S)  # noqa: TID251 - a program of its own
    began, before = perf_counter(), load.count
    await asyncio.sleep(seconds)  # noqa: TID251
    rate = (load.count - before) / (perf_counter() - began)
    answer = {"per_second": rate, "answered": load.count, "refused": load.failures}
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    port, connections, seconds, kind, what = sys.argv[1:]
    read = http_request("GET", f"/schemas/ids/{what}")
    writes = registrations(what)
    uvloop.run(
        main(
            int(port),
            int(connections),
            float(seconds),
            (lambda: read) if kind == "read" else (lambda: next(writes)),
        )
    )
