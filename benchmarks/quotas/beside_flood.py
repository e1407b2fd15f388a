"""How long the requests of a steady client wait in the node's queue, beside one that floods it.

The steady client sends some requests at once, a hundred times per second. The flooding one has
several connections, each with many large Produce requests in flight. The node measures the wait
itself (`ottla_request_phase_seconds`, phase queue): the cores of the machine are shared with the
clients. Before that, a request waits until the event loop reads it, as long as a timer is late
(`ottla_event_loop_delay_seconds`): a loop that has nothing to do is never late, so this has no
bound.
"""

from __future__ import annotations

import multiprocessing
import socket  # noqa: TID251 - the benchmark stands outside of the node
import time
from collections.abc import Callable, Iterator
from re import findall
from statistics import median, quantiles
from typing import Final, NamedTuple
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
# Name and labels of histograms.
_QUEUE: Final = ("ottla_request_phase_seconds", 'api="Metadata",phase="queue",')
_OF_FLOOD: Final = ("ottla_request_phase_seconds", 'api="Produce",phase="queue",')
_LOOP: Final = ("ottla_event_loop_delay_seconds", "")


def run(
    *, quick: bool, report: Callable[[str], None], note: Callable[[str], None]
) -> Iterator[Figure]:
    rounds, seconds = (3, 2.0) if quick else (7, 5.0)
    port = free_port()
    with fresh(OttlaServer, {"ottla.metrics.listener": str(port)}) as server:
        server.start()
        create_topics(server.address, [_TOPIC], partitions=1)
        alone, beside = list[_Waits](), list[_Waits]()
        seen: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            report(f"quotas: waiting, round {number + 1} of {rounds}")
            alone.append(_waits(server.address, port, seconds, seen[0]))
            flood = multiprocessing.get_context("spawn").Process(
                target=_flood, args=(server.address,), daemon=True
            )
            flood.start()
            _wait_flooded(port)
            beside.append(_waits(server.address, port, seconds, seen[1]))
            flood.kill()
            flood.join()
    for name, times in zip(("alone", "beside the flood"), seen, strict=True):
        cuts = quantiles(times, n=100)
        note(
            f"the steady client {name} has {_AT_ONCE} responses after {median(times) * 1e3:.2f} "
            f"ms (median), {cuts[98] * 1e3:.2f} ms (99th percentile)"
        )
    yield _figure("median", alone, beside, lambda each: each.median_us)
    yield _figure("90th percentile", alone, beside, lambda each: each.late_us)
    yield Figure(
        "lateness of the event loop beside a flooding client (against: without it), median",
        median(each.of_loop_us for each in beside),
        "us",
        median(each.of_loop_us for each in alone),
    )


def _figure(
    quantile: str, alone: list[_Waits], beside: list[_Waits], of: Callable[[_Waits], float]
) -> Figure:
    own, without = median(map(of, beside)), median(map(of, alone))
    return Figure(
        f"wait in the queue beside a flooding client (against: without it), {quantile}",
        own,
        "us",
        without,
        bound=f"< {_RATIO_MAX:.0f} x",
        holds=own / without < _RATIO_MAX,
    )


class _Waits(NamedTuple):
    """Of a round. Quantiles, because on a busy machine the node itself waits for a core now and
    then, and these few times would be most of a mean."""

    median_us: float
    late_us: float
    of_loop_us: float


def _waits(address: str, port: int, seconds: float, seen: list[float]) -> _Waits:
    """Of the requests that the steady client sends. Appends to `seen` what it saw."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=_TOPIC)])
    client = RawClient(address, "steady", request)
    before = [_buckets(port, each) for each in (_QUEUE, _LOOP)]
    ends_at = time.perf_counter() + seconds
    while time.perf_counter() < ends_at:
        started = time.perf_counter()
        client.exchange_many(_AT_ONCE)
        seen.append(time.perf_counter() - started)
        time.sleep(max(0.0, started + _PAUSE_SECONDS - time.perf_counter()))
    client.close()
    in_queue, of_loop = (
        {bound: count - earlier.get(bound, 0.0) for bound, count in later.items()}
        for later, earlier in zip(
            (_buckets(port, each) for each in (_QUEUE, _LOOP)), before, strict=True
        )
    )
    return _Waits(_quantile(in_queue, 0.5), _quantile(in_queue, 0.9), _quantile(of_loop, 0.5))


def _buckets(port: int, histogram: tuple[str, str]) -> dict[float, float]:
    """The counts of a histogram, by the upper bounds of its buckets, as Prometheus has them."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    name, labels = histogram
    lines = findall(rf'{name}_bucket\{{{labels}le="([^"]+)"\}} (\S+)', text)
    return {float(bound): float(count) for bound, count in lines}


def _quantile(buckets: dict[float, float], quantile: float) -> float:
    """In microseconds; within a bucket, values are taken for evenly spread."""
    wanted = quantile * max(buckets.values())
    lower, below = 0.0, 0.0
    for bound, count in sorted(buckets.items()):
        if count >= wanted:
            share = (wanted - below) / (count - below) if count > below else 1.0
            return (lower + share * (bound - lower)) * 1e6
        lower, below = bound, count
    return lower * 1e6


def _wait_flooded(port: int) -> None:
    before = max(_buckets(port, _OF_FLOOD).values(), default=0.0)
    while max(_buckets(port, _OF_FLOOD).values(), default=0.0) < before + 1_000:
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
