"""What counting and timing costs a request: a node whose metrics are read beside one without.

A client produces one record per request over one connection, several requests in flight. Both nodes
run all the time and are loaded in turns, so that what else the machine does meets both. The figure
is the processor time of the node per request, in the median of the rounds.
"""

from __future__ import annotations

import socket  # noqa: TID251 - the benchmark stands outside of the node
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from struct import Struct
from typing import Final, NamedTuple

from benchmarks.figure import Figure
from benchmarks.versus.servers import OttlaServer, Server, free_port, fresh
from benchmarks.versus.wire_client import create_topics
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.records.builder import batch_of_one, lone_record
from ottla.wire.requests import encode_request

TOPIC: Final = "counted"
_PRODUCE_VERSION: Final = 11
_IN_FLIGHT: Final = 5
_COST_US_MAX: Final = 1.0
_TIMEOUT_SECONDS: Final = 60.0
_SIZE: Final = Struct(">i")


class _Amount(NamedTuple):
    rounds: int
    requests: int


def run(
    *, quick: bool, report: Callable[[str], None], note: Callable[[str], None]
) -> Iterator[Figure]:
    amount = _Amount(15, 10_000) if quick else _Amount(21, 50_000)
    metrics = {"ottla.metrics.listener": str(free_port())}
    with fresh(OttlaServer) as plain, fresh(OttlaServer, metrics) as measured:
        for server in (plain, measured):
            server.start()
            create_topics(server.address, [TOPIC], partitions=1)
            load(server, amount.requests)
        without: list[float] = []
        with_: list[float] = []
        rates: tuple[list[float], list[float]] = ([], [])
        for number in range(amount.rounds):
            report(f"counting: round {number + 1} of {amount.rounds}")
            for server, found, rate in ((plain, without, rates[0]), (measured, with_, rates[1])):
                microseconds, per_second = load(server, amount.requests)
                found.append(microseconds)
                rate.append(per_second)
    note(f"medians of {amount.rounds} rounds of {amount.requests:,} requests")
    cost = median(after - before for before, after in zip(without, with_, strict=True))
    yield Figure(
        "counting a produce request of one record: processor time of the node",
        cost,
        "us",
        bound=f"<= {_COST_US_MAX:.0f}",
        holds=cost <= _COST_US_MAX,
    )
    yield Figure(
        "a produce request of one record with metrics (against: without): processor time",
        median(with_),
        "us",
        median(without),
    )
    yield Figure(
        "the same over one connection (against: without)",
        median(rates[1]),
        "requests/s",
        median(rates[0]),
    )


def load(server: Server, requests: int) -> tuple[float, float]:
    """The node's processor time per request in microseconds, and requests per second."""
    batch = bytes(batch_of_one(lone_record(b"", b"x" * 100), timestamp=time.time_ns() // 1_000_000))
    request = ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            TopicProduceData(
                name=TOPIC, partition_data=[PartitionProduceData(index=0, records=batch)]
            )
        ],
    )
    sent = b"".join(encode_request(request, _PRODUCE_VERSION, correlation_id=1, client_id="bench"))
    host, _, port = server.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=_TIMEOUT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        used, started = _cpu_ns(server.pid), time.perf_counter()
        _exchange(connection, sent, requests)
        seconds = time.perf_counter() - started
        return (_cpu_ns(server.pid) - used) / requests / 1_000, requests / seconds


def _cpu_ns(pid: int) -> int:
    """The processor time of all threads, finer than the ticks of /proc/PID/stat."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in tasks)


def _exchange(connection: socket.socket, request: bytes, count: int) -> None:
    """All answers have the same length."""
    connection.sendall(request * _IN_FLIGHT)
    size = _SIZE.size + _SIZE.unpack(connection.recv(_SIZE.size, socket.MSG_PEEK))[0]
    sent, received = _IN_FLIGHT, 0
    while received < count * size:
        chunk = connection.recv(1 << 16)
        if not chunk:
            raise ConnectionResetError("the server closed the connection")
        before = received // size
        received += len(chunk)
        more = min(received // size - before, count - sent)
        if more:
            connection.sendall(request * more)
            sent += more
