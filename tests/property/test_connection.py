"""Whatever arrives on a connection is answered in order or ends it, and affects no other one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random  # noqa: TID251 - the seed is the test's input
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.model import Uuid
from ottla.wire.messages.fetch import FetchRequest, FetchResponse
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from ottla.wire.messages.unregister_broker import UnregisterBrokerRequest
from ottla.wire.requests import decode_response
from ottla.wire.schema.types import Blob, FieldType, Fixed
from tests.support.kafka.protocol_values import TEXTS, Values
from tests.support.kafka.recorded_requests import (
    CLIENTS,
    PARTITIONS,
    TOPICS,
    answers_to,
    recorded_requests,
)
from tests.support.nodes.client_stream import ClientStream
from tests.support.nodes.one_node import NODE_ID, OneNode
from tests.support.nodes.wire_connection import framed, with_size
from tests.support.storage.batches import batch_of

# The names of topics that requests of any values talk about.
NAMED = TEXTS[1:3]
CLAIMS = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\x00\x00\x00\x00")
# The recordings are of another day than the simulated clock's.
ANY_TIMESTAMP = {"log.message.timestamp.after.max.ms": str(2**63 - 1)}
SEEDS = st.integers(0, 2**32 - 1)


class Errors(logging.Handler):
    """What is logged as an error: nothing that a client sends may be one."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.logged: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.logged.append(logging.Formatter().format(record))


@contextmanager
def robust_node(*topics: str) -> Iterator[tuple[OneNode, list[Uuid]]]:
    """A node with these topics, and their ids. In the end it has to be as good as new."""
    errors = Errors()
    logging.getLogger().addHandler(errors)
    node = OneNode(configs=ANY_TIMESTAMP)
    try:
        yield node, [node.create_topic(name, partitions=PARTITIONS) for name in topics]
        assert_serves(node)
        assert not errors.logged, errors.logged[0]
    finally:
        logging.getLogger().removeHandler(errors)
        node.abandon()


def assert_serves(node: OneNode) -> None:
    """That a client which knows how to behave creates, writes and is answered."""
    requested = MetadataRequest(topics=[MetadataRequestTopic(name="a-new-topic")])
    records = bytes(batch_of(b"value", key=b"key"))
    data = [PartitionProduceData(index=0, records=records)]
    written = ProduceRequest(
        acks=-1, topic_data=[TopicProduceData(name="a-new-topic", partition_data=data)]
    )
    client = ClientStream(node)
    client.feed(framed(requested, 12) + framed(written, 9))
    _, answer = client.answers()
    _, response = decode_response(answer, 0, 9)
    assert isinstance(response, ProduceResponse)
    assert response.responses[0].partition_responses[0].error_code == 0
    client.end()


def feed_and_end(node: OneNode, data: bytes, *, piece_bytes: int = 1 << 20) -> list[bytes]:
    """What a client gets that sends these bytes and goes."""
    client = ClientStream(node)
    client.feed(data, piece_bytes=piece_bytes)
    answers = client.answers()
    client.end()
    return answers


@pytest.mark.parametrize("name", CLIENTS)
def test_requests_of_real_clients_are_answered_in_order(name: str) -> None:
    with robust_node(*TOPICS) as (node, ids):
        frames = recorded_requests(name, topic_id=ids[TOPICS.index("orders-java")])
        client = ClientStream(node)
        client.feed(b"".join(map(with_size, frames)))
        responses = answers_to(frames, client.answers())
        assert not client.is_closed
        client.end()
        for response in responses:
            if isinstance(response, ProduceResponse):
                codes = {
                    each.error_code
                    for topic in response.responses
                    for each in topic.partition_responses
                }
                # The recordings leave out what repeats, so sequence numbers have gaps.
                assert codes <= {0, 45, 59}
            if isinstance(response, FetchResponse):
                assert response.error_code in (0, 70, 71)


@given(piece_bytes=st.integers(1, 100), name=st.sampled_from(CLIENTS))
@settings(max_examples=15, deadline=None)
def test_bytes_that_come_in_pieces_get_the_same_answers(piece_bytes: int, name: str) -> None:
    answers = []
    for size in (piece_bytes, 1 << 20):
        with robust_node(*TOPICS) as (node, ids):
            frames = recorded_requests(name, topic_id=ids[TOPICS.index("orders-java")])
            data = b"".join(map(with_size, frames))
            answers.append(feed_and_end(node, data, piece_bytes=size))
    assert answers[0] == answers[1]


def mutated(frame: bytes, random: Random) -> bytes:
    """A frame, with its size, of which something is not as it was."""
    position = random.randrange(len(frame))
    flipped = bytearray(frame)
    flipped[position] ^= 1 << random.randrange(8)
    claim = random.choice(CLAIMS)
    cut = frame[: random.randrange(len(frame))]
    return random.choice(
        (
            with_size(bytes(flipped)),
            with_size(frame[:position] + claim + frame[position + len(claim) :]),
            with_size(frame[:position] + random.randbytes(8) + frame[position:]),
            with_size(cut),
            with_size(frame)[: len(cut)],
            random.choice(CLAIMS)[:4] + frame,
        )
    )


@given(seed=SEEDS, name=st.sampled_from(CLIENTS))
@settings(max_examples=40, deadline=None)
def test_mutated_requests_are_answered_or_end_their_connection(seed: int, name: str) -> None:
    random = Random(seed)
    with robust_node(*TOPICS) as (node, ids):
        frames = recorded_requests(name, topic_id=ids[TOPICS.index("orders-java")])
        for _ in range(20):
            stream = [with_size(random.choice(frames)), mutated(random.choice(frames), random)]
            random.shuffle(stream)
            feed_and_end(node, b"".join(stream), piece_bytes=random.choice((7, 4096)))


@given(
    data=st.binary(max_size=200),
    keys=st.lists(st.integers(-1, 95), max_size=3),
    version=st.integers(-1, 20),
)
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_answered_or_end_their_connection(
    data: bytes, keys: list[int], version: int
) -> None:
    with robust_node() as (node, _):
        feed_and_end(node, data)
        for key in keys:
            header = key.to_bytes(2, signed=True) + version.to_bytes(2, signed=True)
            feed_and_end(node, with_size(header + data))


class RequestValues(Values):
    """Requests that talk about topics which are there, more often than chance would."""

    def __init__(self, seed: int, topic_ids: list[Uuid]) -> None:
        super().__init__(seed)
        self._topic_ids = topic_ids

    def _value(self, kind: FieldType, version: int, *, flexible: bool, depth: int) -> Any:
        if isinstance(kind, Blob) and kind.records and self._random.random() < 0.7:
            return bytes(batch_of(b"value", key=b"key"))
        return super()._value(kind, version, flexible=flexible, depth=depth)

    def _fixed(self, kind: Fixed) -> Any:
        if kind.name == "UUID" and self._random.random() < 0.7:
            return self._random.choice(self._topic_ids)
        if kind.name.startswith("INT") and self._random.random() < 0.4:
            return self._random.choice((-1, 0, 1, 2))
        return super()._fixed(kind)


@given(seed=SEEDS)
@settings(max_examples=20, deadline=None)
def test_any_request_of_any_values_is_answered(seed: int) -> None:
    with robust_node(*NAMED) as (node, ids):
        values = RequestValues(seed, ids)
        for key, api in node.broker.apis.items():
            version = api.versions[seed % len(api.versions)]
            request = values.message(api.request_class, version)
            if isinstance(request, FetchRequest):
                request.max_wait_ms = min(request.max_wait_ms, 60_000)
            if isinstance(request, UnregisterBrokerRequest) and request.broker_id == NODE_ID:
                # It would carry out the request.
                request.broker_id += 1
            answers = feed_and_end(node, framed(request, version, correlation_id=7))
            if isinstance(request, ProduceRequest) and request.acks == 0:
                assert not answers
                continue
            (answer,) = answers
            header, _ = decode_response(answer, key, version)
            assert header.correlation_id == 7
