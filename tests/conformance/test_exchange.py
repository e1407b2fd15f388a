"""Every client reads what every other wrote, in every codec, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient

from ottla.wire.records.compression import Codec
from tests.conformance.clients import CODECS, EARLIEST, Client, Message, Received
from tests.conformance.conftest import CLIENTS, client_named
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

PARTITIONS = 2
LONG = Message(b"all the same " * 300, b"compressible")
# More than a block of any codec, and of the kind that does not get smaller.
LARGE = Message(b"".join(sha256(b"%d" % number).digest() for number in range(6_000)), b"large")
MESSAGES = (
    Message(b"value", b"key", (("name", b"one"), ("name", b"two"), ("empty", b""))),
    Message(b"null header", b"key", (("null", None),)),
    Message(b"no key"),
    Message(b"", b"empty value"),
    Message(None, b"null value"),
    Message(b"", b""),
    Message(None, None),
    Message("snow ☃".encode(), "Schlüssel".encode()),
    Message(bytes(range(256)), b"binary"),
    Message(b"then", b"created", timestamp_ms=1_600_000_000_123),
    LONG,
)


class Written(NamedTuple):
    """Topics by codec, and what should be in each of their partitions."""

    topics: dict[str, str]
    messages: tuple[list[Message], ...]


@pytest.fixture(scope="module")
def written(admin: AdminClient, node: RunningNode) -> dict[str, Written]:
    """By client, what it wrote: filled by the first test that needs it."""
    return {}


@pytest.fixture
def writings(
    written: dict[str, Written],
    writer: Client,
    admin: AdminClient,
    node: RunningNode,
) -> Written:
    if writer.name not in written:
        topics = Topics(admin, node, f"exchange-{writer.name}")
        written[writer.name] = write(writer, topics)
    return written[writer.name]


@pytest.fixture(params=CLIENTS)
def writer(request: pytest.FixtureRequest, node: RunningNode) -> Client:
    return client_named(request.param, request, node)


def write(writer: Client, topics: Topics) -> Written:
    able = [message for message in MESSAGES if writer.can_send(message)]
    messages = [
        replace(message, partition=number % PARTITIONS) for number, message in enumerate(able)
    ]
    by_partition = tuple(
        [message for message in messages if message.partition == partition]
        for partition in range(PARTITIONS)
    )
    made = {}
    for codec in CODECS:
        made[codec] = topics.create(PARTITIONS)
        positions = writer.produce(made[codec], messages, codec=codec)
        for partition, expected in enumerate(by_partition):
            offsets = [position.offset for position in positions if position.partition == partition]
            assert offsets == list(range(len(expected)))
    return Written(made, by_partition)


def test_a_client_reads_what_another_wrote(client: Client, writings: Written) -> None:
    partitions = [(topic, each) for topic in writings.topics.values() for each in range(PARTITIONS)]
    count = sum(len(writings.messages[partition]) for _, partition in partitions)

    received = client.consume(dict.fromkeys(partitions, EARLIEST), count)

    for topic, partition in partitions:
        found = [each for each in received if (each.topic, each.partition) == (topic, partition)]
        assert_same(found, writings.messages[partition])


def assert_same(received: Sequence[Received], messages: Sequence[Message]) -> None:
    assert [record.offset for record in received] == list(range(len(messages)))
    for record, message in zip(received, messages, strict=True):
        assert record.key == message.key
        assert record.value == message.value
        assert record.headers == message.headers
        assert record.timestamp_type in ("CreateTime", None)
        if message.timestamp_ms is not None:
            assert record.timestamp_ms == message.timestamp_ms


@pytest.mark.parametrize("codec", CODECS)
def test_batches_are_stored_as_the_client_compressed_them(
    writings: Written, topics: Topics, codec: str
) -> None:
    last_values = [messages[-1].value for messages in writings.messages]
    stored = topics.stored(writings.topics[codec], last_values.index(LONG.value))
    assert stored[-1].codec is Codec[codec.upper()]


@pytest.mark.parametrize(("codec", "wanted"), [*pairwise(CODECS), (CODECS[-1], "uncompressed")])
def test_a_topics_own_codec_replaces_the_producers(
    client: Client, topics: Topics, codec: str, wanted: str
) -> None:
    topic = topics.create(compression_type=wanted)

    client.produce(topic, [LONG, LARGE], codec=codec)

    stored = Codec.NONE if wanted == "uncompressed" else Codec[wanted.upper()]
    assert {header.codec for header in topics.stored(topic)} == {stored}
    received = client.consume({(topic, 0): EARLIEST}, 2)
    assert [record.value for record in received] == [LONG.value, LARGE.value]
