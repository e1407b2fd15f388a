"""Loads an HTTP server over connections that are kept, each with one request at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter

_HEAD_END = b"\r\n\r\n"
_LENGTH = b"content-length:"


def http_request(method: str, path: str, body: bytes = b"") -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Connection(asyncio.Protocol):
    def __init__(self, load: _Load) -> None:
        self._load = load
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._load.next_request())

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


async def requests_per_second(
    port: int, next_request: Callable[[], bytes], *, connections: int, seconds: float
) -> float:
    """Fails if a response has another status than 200."""
    load = _Load(next_request)
    loop = asyncio.get_running_loop()
    transports = []
    for _ in range(connections):
        transport, _protocol = await loop.create_connection(
            lambda: _Connection(load), "127.0.0.1", port
        )
        transports.append(transport)
    await asyncio.sleep(0.5)  # noqa: TID251  warms up
    began, before = perf_counter(), load.count
    await asyncio.sleep(seconds)  # noqa: TID251  measures
    rate = (load.count - before) / (perf_counter() - began)
    for transport in transports:
        transport.abort()
    assert not load.failures, f"{load.failures} requests failed"
    return rate
