"""Thousands of connections, idle ones, slow ones, and more than are allowed, to a real node."""

from __future__ import annotations

import re
import resource
import select
import socket  # noqa: TID251 - tests stand outside of the node
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from ottla.runtime.log_limit import LINES_MAX
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.steady_client import SteadyClient
from tests.support.nodes.wire_connection import WireConnection, framed, with_size
from tests.support.soak import at_scale
from tests.support.storage.batches import batch_of

CONNECTIONS = at_scale(quick=2_000, soak=10_000)
# What the logs of one topic may open while a test runs.
LOG_FILES_MAX = 40
# Descriptors that the test and the node need besides their connections.
OTHER_DESCRIPTORS = 1_000
BYTES_PER_CONNECTION_MAX = 16 * 1024
# A round of the well-behaved client takes a millisecond; the rest is for a busy machine.
STEADY_SECONDS_MAX = 5.0
WAIT_SECONDS_MAX = 30.0
MEBIBYTE = 1 << 20
ANY_TOPICS = MetadataRequest(topics=[])


def send_request(connection: WireConnection) -> None:
    assert connection.send_request(ANY_TOPICS, 12).brokers


def wait_closed(connections: list[WireConnection]) -> None:
    """Returns when the node has ended all of them."""
    deadline = time.perf_counter() + WAIT_SECONDS_MAX
    for connection in connections:
        connection.socket.settimeout(max(deadline - time.perf_counter(), 0.001))
        connection.receive_end()


def wait_until(condition: Callable[[], bool], *, seconds_max: float = WAIT_SECONDS_MAX) -> None:
    deadline = time.perf_counter() + seconds_max
    while not condition():
        assert time.perf_counter() < deadline, f"not within {seconds_max} s"
        select.select([], [], [], 0.01)


def wait_open_files(node: NodeProcess, *, most: int) -> None:
    wait_until(lambda: node.open_files <= most)


def is_answered(connection: WireConnection, *, within_seconds: float) -> bool:
    return bool(select.select([connection.socket], [], [], within_seconds)[0])


@contextmanager
def many_descriptors(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count:
        pytest.skip(f"the system gives a process {hard} descriptors, this needs {count}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def connections(node: NodeProcess, count: int) -> Iterator[list[WireConnection]]:
    with ExitStack() as stack:
        yield [stack.enter_context(WireConnection(node.address)) for _ in range(count)]


def test_thousands_of_connections_are_served_and_cost_little(tmp_path: Path) -> None:
    with many_descriptors(CONNECTIONS + OTHER_DESCRIPTORS), NodeProcess(tmp_path) as node:
        with SteadyClient(node.address) as steady:
            before = node.resident_bytes
            open_files = node.open_files
            with connections(node, CONNECTIONS) as idle:
                for connection in idle:
                    send_request(connection)
                each = (node.resident_bytes - before) / CONNECTIONS
                cpu_before = node.cpu_seconds
                for connection in idle[:: max(CONNECTIONS // 100, 1)]:
                    send_request(connection)
                assert node.cpu_seconds - cpu_before < 1.0
            # The steady client has its logs open by now.
            wait_open_files(node, most=open_files + 20)
        print(f"{CONNECTIONS} connections of {each:.0f} bytes; the slowest round of another client")
        print(f"took {steady.slowest_seconds * 1_000:.0f} ms of {steady.rounds}")
        assert each < BYTES_PER_CONNECTION_MAX
        assert steady.slowest_seconds < STEADY_SECONDS_MAX
        node.assert_no_traceback()


def test_idle_connections_are_closed_and_others_are_not(tmp_path: Path) -> None:
    with NodeProcess(tmp_path, {"connections.max.idle.ms": "1000"}) as node:
        with SteadyClient(node.address) as steady, connections(node, 20) as idle:
            for connection in idle[:10]:
                send_request(connection)
            started = time.perf_counter()
            wait_closed(idle)
            assert time.perf_counter() - started > 0.5
        assert steady.rounds > 50
        node.assert_no_traceback()


def fetch(topic: str) -> bytes:
    request = FetchRequest(
        max_wait_ms=2**31 - 1,
        min_bytes=2**31 - 1,
        max_bytes=50 * MEBIBYTE,
        session_epoch=-1,
        topics=[
            FetchTopic(topic=topic, partitions=[FetchPartition(partition_max_bytes=50 * MEBIBYTE)])
        ],
    )
    return framed(request, 12)


def test_a_client_that_vanished_in_the_middle_of_a_long_poll_is_let_go(tmp_path: Path) -> None:
    with NodeProcess(tmp_path, {"connections.max.idle.ms": "500"}) as node:
        open_files = node.open_files
        with WireConnection(node.address) as connection:
            connection.send_request(
                MetadataRequest(topics=[MetadataRequestTopic(name="empty")]), 12
            )
            connection.send(fetch("empty"))
            assert not is_answered(connection, within_seconds=0.1)
        wait_open_files(node, most=open_files + 5)
        node.assert_no_traceback()


def fill(node: NodeProcess, topic: str, mebibytes: int) -> None:
    records = bytes(batch_of(bytes(900_000), timestamp=-1))
    data = [PartitionProduceData(records=records)]
    request = ProduceRequest(
        acks=-1, topic_data=[TopicProduceData(name=topic, partition_data=data)]
    )
    with WireConnection(node.address) as connection:
        connection.send_request(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 12)
        for _ in range(mebibytes):
            (written,) = connection.send_request(request, 9).responses[0].partition_responses
            assert written.error_code == 0


def test_clients_that_never_read_cost_little_and_are_let_go(tmp_path: Path) -> None:
    with NodeProcess(tmp_path, {"connections.max.idle.ms": "2000"}) as node:
        fill(node, "large", 20)
        open_files, before = node.open_files, node.resident_bytes
        request = FetchRequest(
            max_bytes=50 * MEBIBYTE,
            session_epoch=-1,
            topics=[
                FetchTopic(
                    topic="large", partitions=[FetchPartition(partition_max_bytes=50 * MEBIBYTE)]
                )
            ],
        )
        greedy = framed(request, 12) * 10 + framed(MetadataRequest(topics=None), 12) * 100
        with SteadyClient(node.address) as steady, ExitStack() as stack:
            for _ in range(100):
                connection = WireConnection(node.address, receive_buffer=4096)
                stack.enter_context(connection).send(greedy)
            wait_until(lambda: node.open_files > open_files + 100)
            wait_open_files(node, most=open_files + 5)
            assert node.resident_bytes - before < 32 * MEBIBYTE
        assert steady.slowest_seconds < STEADY_SECONDS_MAX
        node.assert_no_traceback()


def test_requests_that_come_byte_by_byte_are_answered(tmp_path: Path) -> None:
    with NodeProcess(tmp_path) as node:
        with SteadyClient(node.address) as steady:
            before = node.resident_bytes
            with connections(node, 100) as slow:
                for byte in framed(ANY_TOPICS, 12):
                    for connection in slow:
                        connection.send(bytes([byte]))
                for connection in slow:
                    assert connection.receive_frame()
            assert node.resident_bytes - before < 8 * MEBIBYTE
        assert steady.slowest_seconds < STEADY_SECONDS_MAX
        node.assert_no_traceback()


def test_frames_that_never_end_take_no_more_memory_than_was_sent(tmp_path: Path) -> None:
    with NodeProcess(tmp_path) as node:
        with SteadyClient(node.address) as steady:
            before = node.resident_bytes
            with connections(node, 50) as stuck:
                for connection in stuck:
                    connection.send((100 * MEBIBYTE).to_bytes(4) + bytes(100_000))
                with WireConnection(node.address) as last:
                    # What was sent before this is received by now.
                    send_request(last)
                assert node.resident_bytes - before < 50 * 400_000 + 8 * MEBIBYTE
        assert steady.slowest_seconds < STEADY_SECONDS_MAX
        node.assert_no_traceback()


def test_connections_above_the_limit_wait_until_others_end(tmp_path: Path) -> None:
    with (
        NodeProcess(tmp_path, {"max.connections": "20"}) as node,
        connections(node, 20) as served,
        connections(node, 5) as waiting,
    ):
        for connection in served:
            send_request(connection)
        for connection in waiting:
            connection.send(framed(ANY_TOPICS, 12))
        assert not is_answered(waiting[0], within_seconds=0.2)
        for connection in served[:5]:
            connection.socket.close()
        for connection in waiting:
            assert connection.receive_frame()
        node.assert_no_traceback()


def test_a_host_above_its_limit_is_refused(tmp_path: Path) -> None:
    with (
        NodeProcess(tmp_path, {"max.connections.per.ip": "10"}) as node,
        connections(node, 10) as served,
    ):
        for connection in served:
            send_request(connection)
        with WireConnection(node.address) as refused:
            assert refused.receive_end() == b""
        open_files = node.open_files
        served.pop().socket.close()
        wait_open_files(node, most=open_files - 1)
        with WireConnection(node.address) as admitted:
            send_request(admitted)
        node.assert_no_traceback()


def test_a_flood_of_connections_does_not_take_the_logs_descriptors(tmp_path: Path) -> None:
    with NodeProcess(tmp_path, open_files_max=256) as node:
        with SteadyClient(node.address) as steady:
            fill(node, "large", 2)
            flood: list[socket.socket] = []
            for _ in range(400):
                client = socket.socket()
                client.setblocking(False)
                client.connect_ex(node.address)
                flood.append(client)
            rounds = steady.rounds
            wait_until(lambda: steady.rounds > rounds + 20)
            assert node.open_files < 256
            for client in flood:
                client.close()
        with WireConnection(node.address) as after:
            send_request(after)
        assert steady.slowest_seconds < STEADY_SECONDS_MAX
        node.assert_no_traceback()


def test_malformed_connections_are_logged_a_few_times_and_then_counted(tmp_path: Path) -> None:
    count = 200
    with NodeProcess(tmp_path) as node:
        for _ in range(count):
            with WireConnection(node.address) as connection:
                connection.send(with_size(b"GET / HTTP/1.1"))
                connection.receive_end()
        node.stop()
    lines = [line for line in node.stderr.splitlines() if "closing the connection from" in line]
    counts = [int(match[1]) for line in lines if (match := re.search(r"and (\d+) more in", line))]
    assert len(lines) <= 3 * LINES_MAX
    assert len(lines) - len(counts) + sum(counts) == count
