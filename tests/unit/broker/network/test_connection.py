"""A connection answers in order, yields to others, and its errors affect no other connection."""

from __future__ import annotations

import gc
import logging
import struct
import tracemalloc
from math import inf

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.wire.requests import decode_response
from ottla.wire.schema import Message
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import OneNode, StartNode
from tests.support.nodes.wire_connection import framed, with_size
from tests.support.storage.batches import batch_of

TOPIC = "orders"
PRODUCE_VERSION = 9
FETCH_VERSION = 12
METADATA_VERSION = 12
LONG_MS = 30_000
LARGE_BYTES = 900_000


def produce(value: bytes = b"value", *, index: int = 0, acks: int = -1) -> Message:
    data = [PartitionProduceData(index=index, records=bytes(batch_of(value)))]
    return ProduceRequest(acks=acks, topic_data=[TopicProduceData(name=TOPIC, partition_data=data)])


def fetch(*, offset: int = 0, partitions: int = 1, bytes_max: int = 1 << 20) -> Message:
    return FetchRequest(
        max_wait_ms=LONG_MS,
        min_bytes=1,
        max_bytes=bytes_max,
        session_epoch=-1,
        topics=[
            FetchTopic(
                topic=TOPIC,
                partitions=[
                    FetchPartition(
                        partition=index, fetch_offset=offset, partition_max_bytes=1 << 20
                    )
                    for index in range(partitions)
                ],
            )
        ],
    )


def produced(answer: bytes) -> int:
    _, response = decode_response(answer, 0, PRODUCE_VERSION)
    assert isinstance(response, ProduceResponse)
    (partition,) = response.responses[0].partition_responses
    assert partition.error_code == 0
    return partition.base_offset


def correlation_ids(answers: list[bytes]) -> list[int]:
    return [int.from_bytes(answer[:4]) for answer in answers]


# ---- what is not the protocol


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\x00",
        struct.pack(">hhih", 999, 0, 1, -1),
        struct.pack(">hhih", -1, 0, 1, -1),
        struct.pack(">hhih", 3, 99, 1, -1) + bytes(9),
        struct.pack(">hhih", 3, -1, 1, -1),
        struct.pack(">hhih", 0, 2, 1, -1),
        # A client id that is longer than what is there, and one that is no text.
        struct.pack(">hhih", 3, 1, 1, 100) + b"short",
        struct.pack(">hhih", 3, 1, 1, 2) + b"\xff\xfe" + bytes(4),
        # For the controller's port, not for this one.
        struct.pack(">hhih", 62, 0, 1, -1) + bytes(50),
    ],
)
def test_what_is_no_request_ends_the_connection(node: OneNode, frame: bytes) -> None:
    client = ClientStream(node)
    client.feed(with_size(frame))
    assert client.is_closed
    assert client.answers() == []
    client.end()


@pytest.mark.parametrize("size", [-1, -(2**31), (1 << 20) + 1, 2**31 - 1])
def test_a_frame_of_an_impossible_size_ends_the_connection(node: OneNode, size: int) -> None:
    client = ClientStream(node)
    client.feed(struct.pack(">i", size) + bytes(100))
    assert client.is_closed
    client.end()


@pytest.mark.parametrize("version", [-1, 5, 99])
def test_api_versions_of_an_unknown_version_returns_the_supported_ones(
    node: OneNode, version: int
) -> None:
    client = ClientStream(node)
    client.feed(with_size(struct.pack(">hhih", 18, version, 7, -1) + bytes(5)))
    (answer,) = client.answers()
    header, response = decode_response(answer, 18, 0)
    assert isinstance(response, ApiVersionsResponse)
    assert header.correlation_id == 7
    assert response.error_code == ErrorCode.UNSUPPORTED_VERSION
    (known,) = response.api_keys
    assert (known.api_key, known.min_version, known.max_version) == (18, 0, 4)
    again = ApiVersionsRequest(client_software_name="test", client_software_version="1")
    client.feed(framed(again, 4, correlation_id=8))
    assert correlation_ids(client.answers()) == [8]
    client.end()


def test_bytes_after_a_request_are_let_pass(node: OneNode) -> None:
    """librdkafka 2 sends Metadata version 13 with three bytes too many."""
    client = ClientStream(node)
    frame = framed(MetadataRequest(topics=[]), 13, correlation_id=1)[4:]
    client.feed(with_size(frame + bytes(3)))
    assert correlation_ids(client.answers()) == [1]
    client.end()


def test_a_request_of_more_elements_than_any_cluster_has_ends_the_connection(
    start_node: StartNode,
) -> None:
    node = start_node()
    names = struct.pack(">i", 300_000) + struct.pack(">h", 0) * 300_000
    client = ClientStream(node)
    client.feed(with_size(struct.pack(">hhih", 3, 1, 1, -1) + names))
    assert client.is_closed
    client.end()


def test_an_append_that_wants_no_answer_and_is_refused_ends_the_connection(node: OneNode) -> None:
    client = ClientStream(node)
    client.feed(framed(produce(acks=0), PRODUCE_VERSION))
    assert client.is_closed
    client.end()


def test_nothing_is_handled_after_what_ended_the_connection(start_node: StartNode) -> None:
    node = start_node()
    node.create_topic(TOPIC, configs={"flush.messages": "1"})
    client = ClientStream(node)
    garbage = with_size(b"garbage that is no header")
    appended = framed(produce(), PRODUCE_VERSION)
    client.feed(appended + garbage + appended)
    assert client.is_closed
    assert node.log(TOPIC).log_end_offset == 1
    client.end()


# ---- order and fairness


def test_a_client_that_does_not_read_is_not_served_on(node: OneNode) -> None:
    for number in range(40):
        node.create_topic(f"topic-{number}", partitions=5)
    client = ClientStream(node, room_bytes=100_000)
    requested = [
        framed(MetadataRequest(topics=None), METADATA_VERSION, correlation_id=number)
        for number in range(100)
    ]
    client.feed(b"".join(requested))
    assert 100_000 < client.sent_bytes < 200_000
    assert not client.is_read_from

    answered: list[int] = []
    while len(answered) < len(requested):
        answers = client.read_on()
        assert answers
        answered += correlation_ids(answers)
    assert answered == list(range(100))
    client.end()


def test_turns_change_nothing_about_the_answers(node: OneNode) -> None:
    node.broker.turns.turn_seconds, node.broker.turns.contended_until = -1.0, inf
    node.create_topic(TOPIC)
    first, second = ClientStream(node), ClientStream(node)
    requests = [framed(produce(), PRODUCE_VERSION, correlation_id=each) for each in range(30)]
    first.feed(b"".join(requests))
    second.feed(b"".join(requests), piece_bytes=10)
    for client in (first, second):
        answers = client.answers()
        assert correlation_ids(answers) == list(range(30))
        offsets = [produced(answer) for answer in answers]
        assert offsets == sorted(offsets)
        client.end()
    assert node.log(TOPIC).log_end_offset == 60


def test_answers_keep_the_order_of_requests_that_wait(node: OneNode) -> None:
    node.create_topic(TOPIC, configs={"flush.messages": "1"})
    client = ClientStream(node)
    requests = [
        framed(produce(), PRODUCE_VERSION, correlation_id=0),
        framed(MetadataRequest(topics=[]), METADATA_VERSION, correlation_id=1),
        framed(fetch(), FETCH_VERSION, correlation_id=2),
        framed(produce(), PRODUCE_VERSION, correlation_id=3),
        framed(fetch(offset=2), FETCH_VERSION, correlation_id=4),
        framed(MetadataRequest(topics=[]), METADATA_VERSION, correlation_id=5),
    ]
    client.feed(b"".join(requests))
    assert correlation_ids(client.answers()) == list(range(6))
    client.end()


# ---- clients that meet in a partition


def test_a_chain_of_clients_that_wake_each_other_is_no_recursion(node: OneNode) -> None:
    """Each waits for a record and then writes the one that the next waits for."""
    node.create_topic(TOPIC)
    clients = [ClientStream(node) for _ in range(300)]
    for client in clients:
        waiting = framed(fetch(), FETCH_VERSION, correlation_id=1)
        client.receive(waiting + framed(produce(), PRODUCE_VERSION, correlation_id=2))
    ClientStream(node).feed(framed(produce(), PRODUCE_VERSION))
    for client in clients:
        assert correlation_ids(client.answers()) == [1, 2]
        client.end()
    assert node.log(TOPIC).log_end_offset == 301


def test_a_client_whose_answer_fails_does_not_harm_the_one_that_woke_it(
    node: OneNode, caplog: pytest.LogCaptureFixture
) -> None:
    node.create_topic(TOPIC)
    waiting, writing = ClientStream(node), ClientStream(node)
    waiting.receive(framed(fetch(), FETCH_VERSION))
    waiting.break_off()
    with caplog.at_level(logging.CRITICAL):
        writing.feed(framed(produce(), PRODUCE_VERSION))
    assert waiting.is_closed
    assert [produced(answer) for answer in writing.answers()] == [0]
    assert not writing.is_closed
    for client in (waiting, writing):
        client.end()


def test_a_client_that_goes_while_it_waits_is_forgotten(node: OneNode) -> None:
    node.create_topic(TOPIC)
    waiting = ClientStream(node)
    waiting.receive(framed(fetch(), FETCH_VERSION))
    waiting.end()
    writing = ClientStream(node)
    writing.feed(framed(produce(), PRODUCE_VERSION))
    assert [produced(answer) for answer in writing.answers()] == [0]
    assert waiting.answers() == []
    writing.end()


# ---- the end


@pytest.mark.parametrize("is_closed_by_node", [True, False])
def test_a_connection_that_ended_keeps_no_receive_buffer(
    node: OneNode, *, is_closed_by_node: bool
) -> None:
    """Even while something refers to the connection, as its own contexts do."""
    client = ClientStream(node)
    received = with_size(bytes(1_000_000))[:700_000]
    tracemalloc.start()
    try:
        client.feed(received)
        assert tracemalloc.get_traced_memory()[0] > len(received)
        if is_closed_by_node:
            client.close_by_node()
        else:
            client.end()
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()
        if is_closed_by_node:
            client.end()


def large_views() -> list[memoryview]:
    """What refers to a large receive buffer."""
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, memoryview)
        and isinstance(each.obj, bytearray)
        and len(each.obj) > LARGE_BYTES
    ]


def test_an_append_that_waits_when_its_client_goes_keeps_no_receive_buffer(
    node: OneNode,
) -> None:
    node.create_topic(TOPIC, configs={"flush.messages": "1", "max.message.bytes": "2000000"})
    client = ClientStream(node)
    client.receive(framed(produce(bytes(LARGE_BYTES)), PRODUCE_VERSION))
    assert client.answers() == []
    client.end()
    assert large_views() == []
    assert node.log(TOPIC).log_end_offset == 1


def test_who_watches_a_connection_that_has_ended_is_called_at_once(node: OneNode) -> None:
    client = ClientStream(node)
    calls: list[str] = []
    client.when_closed(lambda: calls.append("first"))
    assert calls == []
    client.end()
    assert calls == ["first"]
    client.when_closed(lambda: calls.append("second"))
    assert calls == ["first", "second"]


def test_partitions_that_a_fetch_has_no_room_for_are_empty(node: OneNode) -> None:
    node.create_topic(TOPIC, partitions=3)
    client = ClientStream(node)
    client.feed(b"".join(framed(produce(index=each), PRODUCE_VERSION) for each in range(3)))
    client.answers()
    client.feed(framed(fetch(partitions=3, bytes_max=1), FETCH_VERSION))
    (answer,) = client.answers()
    _, response = decode_response(answer, 1, FETCH_VERSION)
    assert isinstance(response, FetchResponse)
    sizes = [len(each.records or b"") for each in response.responses[0].partitions]
    assert sizes[0] > 0
    assert sizes[1:] == [0, 0]
    client.end()
