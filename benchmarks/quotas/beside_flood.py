"""How long the requests of a steady client wait in the node's queue, beside one that floods it.

The steady client sends some requests at once, a hundred times per second. The flooding one has
several connections, each with many large Produce requests in flight. The node measures the wait
itself (`ottla_request_phase_seconds`, phase queue): the cores of the machine are shared with the
clients.
"""

from __future__ import annotations

import multiprocessing
import socket  # noqa: TID251 - the benchmark stands outside of the node
import time
from collections.abc import Callable, Iterator
from re import search
from statistics import median, quantiles
from typing import Final
from urllib.request import urlopen

from benchmarks.figure import Figure
from benchmarks.quotas.greedy_client import RawClient, produce_request
from benchmarks.versus.servers import OttlaServer, free_port, fresh
from benchmarks.versus.wire_client import create_topics
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

_TOPIC: Final = "flooded"
_CONNECTIONS: Final = 8
_IN_FLIGHT: Final = 32
_FLOOD_BYTES: Final = 10_000
# Of the steady client.
_AT_ONCE: Final = 10
_PAUSE_SECONDS: Final = 0.01
_RATIO_MAX: Final = 2.0
_RESPONSE_BYTES: Final = 1 << 16


def run(
    *, quick: bool, report: Callable[[str], None], note: Callable[[str], None]
) -> Iterator[Figure]:
    rounds, seconds = (3, 2.0) if quick else (7, 5.0)
    port = free_port()
    with fresh(OttlaServer, {"ottla.metrics.listener": str(port)}) as server:
        server.start()
        create_topics(server.address, [_TOPIC], partitions=1)
        alone, beside = list[float](), list[float]()
        seen: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            report(f"quotas: waiting, round {number + 1} of {rounds}")
            alone.append(_wait_us(server.address, port, seconds, seen[0]))
            flood = multiprocessing.get_context("spawn").Process(
                target=_flood, args=(server.address,), daemon=True
            )
            flood.start()
            _wait_flooded(port)
            beside.append(_wait_us(server.address, port, seconds, seen[1]))
            flood.kill()
            flood.join()
    for name, times in zip(("alone", "beside the flood"), seen, strict=True):
        cuts = quantiles(times, n=100)
        note(
            f"the steady client {name} has {_AT_ONCE} responses after {median(times) * 1e3:.2f} "
            f"ms (median), {cuts[98] * 1e3:.2f} ms (99th percentile)"
        )
    ratio = median(beside) / median(alone)
    yield Figure(
        "wait in the queue beside a flooding client (against: without it), mean",
        median(beside),
        "us",
        median(alone),
        bound=f"< {_RATIO_MAX:.0f} x",
        holds=ratio < _RATIO_MAX,
    )


def _wait_us(address: str, port: int, seconds: float, seen: list[float]) -> float:
    """The mean wait of the requests that the steady client sends. Appends to `seen` what it saw."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=_TOPIC)])
    client = RawClient(address, "steady", request)
    before = _waited(port, "Metadata")
    ends_at = time.perf_counter() + seconds
    while time.perf_counter() < ends_at:
        started = time.perf_counter()
        client.exchange_many(_AT_ONCE)
        seen.append(time.perf_counter() - started)
        time.sleep(max(0.0, started + _PAUSE_SECONDS - time.perf_counter()))
    client.close()
    total, count = (
        after - earlier for after, earlier in zip(_waited(port, "Metadata"), before, strict=True)
    )
    return total / count * 1e6


def _waited(port: int, api: str) -> tuple[float, float]:
    """The seconds that all requests of an API have waited, and how many they were."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    found = []
    for part in ("sum", "count"):
        pattern = rf'ottla_request_phase_seconds_{part}\{{api="{api}",phase="queue"\}} (\S+)'
        value = search(pattern, text)
        found.append(0.0 if value is None else float(value[1]))
    return found[0], found[1]


def _wait_flooded(port: int) -> None:
    before = _waited(port, "Produce")[1]
    while _waited(port, "Produce")[1] < before + 1_000:
        time.sleep(0.05)


def _flood(address: str) -> None:
    """Runs until it is killed."""
    request = produce_request(_TOPIC, _FLOOD_BYTES)
    clients = [RawClient(address, "flood", request) for _ in range(_CONNECTIONS)]
    sockets = [client.connection for client in clients]
    for each, client in zip(sockets, clients, strict=True):
        each.sendall(client.sent * _IN_FLIGHT)
    sizes = [_response_bytes(each) for each in sockets]
    received = [0] * len(sockets)
    while True:
        for index, (each, client) in enumerate(zip(sockets, clients, strict=True)):
            before = received[index] // sizes[index]
            received[index] += len(each.recv(_RESPONSE_BYTES))
            each.sendall(client.sent * (received[index] // sizes[index] - before))


def _response_bytes(connection: socket.socket) -> int:
    """All responses have the same length."""
    return 4 + int.from_bytes(connection.recv(4, socket.MSG_PEEK | socket.MSG_WAITALL))
