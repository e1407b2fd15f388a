"""Thousands of partitions on one node: made, listed, written to, at rest, started again, and
deleted while others go on asking."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.wire_connection import WireConnection
from tests.support.soak import at_scale
from tests.support.storage.batches import batch_of

TOPICS = at_scale(quick=200, soak=2_000)
PARTITIONS = 5
# Every so many topics are written to.
STEP = max(TOPICS // 100, 1)
CREATE_SECONDS_MAX = 300.0
METADATA_SECONDS_MAX = 1.0
DELETE_SECONDS_MAX = 60.0
WAIT_SECONDS_MAX = 1.0
RESTART_SECONDS_MAX = 5.0
RECOVERY_SECONDS_MAX = 30.0
IDLE_SECONDS = at_scale(quick=2, soak=5)
IDLE_CPU_MAX = 0.02
OPEN_FILES_MAX = 4_000
RESIDENT_BYTES_MAX = 200 << 20


def names() -> list[str]:
    return [f"topic-{number}" for number in range(TOPICS)]


def create_all(connection: WireConnection) -> None:
    topics = [
        CreatableTopic(name=name, num_partitions=PARTITIONS, replication_factor=1)
        for name in names()
    ]
    connection.socket.settimeout(CREATE_SECONDS_MAX)
    request = CreateTopicsRequest(topics=topics, timeout_ms=int(CREATE_SECONDS_MAX * 1_000))
    answer = connection.send_request(request, 7)
    assert {result.error_code for result in answer.topics} == {0}
    assert len(answer.topics) == TOPICS


def assert_lists_all(connection: WireConnection) -> float:
    """Returns the seconds that the answer took."""
    started = time.perf_counter()
    answer: MetadataResponse = connection.send_request(MetadataRequest(topics=None), 12)
    took = time.perf_counter() - started
    assert {topic.name for topic in answer.topics} == set(names())
    for topic in answer.topics:
        assert {partition.leader_id for partition in topic.partitions} == {1}
        assert len(topic.partitions) == PARTITIONS
    return took


def write_to_some(connection: WireConnection) -> None:
    for name in names()[::STEP]:
        data = [
            PartitionProduceData(index=index, records=bytes(batch_of(name.encode(), timestamp=-1)))
            for index in range(PARTITIONS)
        ]
        request = ProduceRequest(
            acks=-1, topic_data=[TopicProduceData(name=name, partition_data=data)]
        )
        answer = connection.send_request(request, 9)
        assert {each.error_code for each in answer.responses[0].partition_responses} == {0}


def assert_has_what_was_written(connection: WireConnection, *, times: int) -> None:
    request = FetchRequest(
        max_wait_ms=0,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic=name,
                partitions=[
                    FetchPartition(partition=index, partition_max_bytes=10_000)
                    for index in range(PARTITIONS)
                ],
            )
            for name in names()
        ],
    )
    answer = connection.send_request(request, 12)
    ends = {
        (topic.topic, partition.partition_index): partition.high_watermark
        for topic in answer.responses
        for partition in topic.partitions
    }
    written = set(names()[::STEP])
    assert ends == {
        (name, index): times if name in written else 0
        for name in names()
        for index in range(PARTITIONS)
    }


def delete_all(connection: WireConnection) -> None:
    connection.socket.settimeout(DELETE_SECONDS_MAX)
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in names()],
        timeout_ms=int(DELETE_SECONDS_MAX * 1_000),
    )
    answer = connection.send_request(request, 6)
    assert {result.error_code for result in answer.responses} == {0}


def longest_wait(node: NodeProcess, meanwhile: Callable[[], None]) -> float:
    """The seconds that the slowest of many small requests took while something large was done."""
    work = threading.Thread(target=meanwhile)
    longest = 0.0
    with WireConnection(node.address) as connection:
        work.start()
        while work.is_alive():
            started = time.perf_counter()
            connection.send_request(MetadataRequest(topics=[]), 12)
            longest = max(longest, time.perf_counter() - started)
    work.join()
    return longest


def idle_cpu(node: NodeProcess) -> float:
    """The share of a core that the node takes without any requests."""
    before = node.cpu_seconds
    threading.Event().wait(IDLE_SECONDS)
    return (node.cpu_seconds - before) / IDLE_SECONDS


def test_thousands_of_partitions_cost_little_and_start_soon(tmp_path: Path) -> None:
    with NodeProcess(tmp_path) as node:
        with WireConnection(node.address) as connection:
            started = time.perf_counter()
            create_all(connection)
            created = time.perf_counter() - started
            listed = min(assert_lists_all(connection) for _ in range(3))
            write_to_some(connection)
            assert_has_what_was_written(connection, times=1)
        idle = idle_cpu(node)
        resident, open_files = node.resident_bytes, node.open_files
        stopped = node.stop()
        restarted = node.start()
        with WireConnection(node.address) as connection:
            assert_lists_all(connection)
            write_to_some(connection)
            assert_has_what_was_written(connection, times=2)
        node.kill()
        recovered = node.start()
        with WireConnection(node.address) as connection:
            assert_has_what_was_written(connection, times=2)
            started = time.perf_counter()
            waited = longest_wait(node, lambda: delete_all(connection))
            deleted = time.perf_counter() - started
            assert connection.send_request(MetadataRequest(topics=None), 12).topics == []
        node.assert_no_traceback()
    print(f"{TOPICS} x {PARTITIONS} partitions: created in {created:.1f} s, listed in")
    print(f"{listed * 1_000:.0f} ms, stopped in {stopped:.1f} s, started in {restarted:.1f} s,")
    print(f"after a kill in {recovered:.1f} s; at rest {idle:.1%} of a core, {open_files} files,")
    print(f"{resident >> 20} MiB; deleted in {deleted:.1f} s, others waited {waited:.2f} s at most")
    assert listed < METADATA_SECONDS_MAX
    assert restarted < RESTART_SECONDS_MAX
    assert recovered < RECOVERY_SECONDS_MAX
    assert waited < WAIT_SECONDS_MAX
    assert idle < IDLE_CPU_MAX
    assert open_files < OPEN_FILES_MAX
    assert resident < RESIDENT_BYTES_MAX
