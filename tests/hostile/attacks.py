"""Attacks that need more than one mutated frame, each a call that ends by itself.

Every attack stands for a way in which a node was once brought down or held up.
"""

from __future__ import annotations

import socket  # noqa: TID251 - tests stand outside of the node
import struct
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from random import Random  # noqa: TID251 - the seed is the test's input

from ottla.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.wire.records.batch import compute_crc
from ottla.wire.records.builder import seal_batch
from ottla.wire.records.compression import Codec, compress
from ottla.wire.records.header import ATTRIBUTES_AT, CRC_AT, read_header
from ottla.wire.schema import Message
from tests.support.nodes.wire_connection import WireConnection, framed, with_size
from tests.support.storage.batches import batch_of

Address = tuple[str, int]
Attack = Callable[[Address, Random], None]

_MEBIBYTE = 1 << 20
_COMPACTED, _RECOMPRESSED, _LARGE = "hostile-compacted", "hostile-recompressed", "hostile-large"
_LONG_NAMES = 300
_REQUEST_BYTES_MAX = 100 * _MEBIBYTE
_ANSWER_SECONDS_MAX = 0.5
# A flood names no more groups than this, so that what the node remembers of them is bounded.
_GROUPS = 300
_IDLE_CONNECTIONS_MAX = 200
# The smallest record that has a key, with its size first.
_RECORD = bytes((12, 0, 0, 0, 0, 0, 0))
_EXPRESSIONS = (
    "(.*a){200}b",
    "((a*)*)*b",
    "(a|aa)+$",
    "(.{0,100}){100}",
    "((((x{1,30}){1,30}){1,30}){1,30})",
    "(" * 500 + ")" * 500,
    "|".join("a" * n + ".*" for n in range(1, 200)),
    "[" + "a-z" * 3_000 + "]*b",
)


def create_topics(address: Address) -> None:
    """The topics that attacks aim at: with long names, and of which a node opens the batches."""
    configs = {
        _COMPACTED: {"cleanup.policy": "compact"},
        _RECOMPRESSED: {"compression.type": "uncompressed"},
        _LARGE: {"cleanup.policy": "compact", "max.message.bytes": "100000000"},
    }
    names = [f"{'a' * 240}{number:04}" for number in range(_LONG_NAMES)]
    topics = [
        CreatableTopic(
            name=name,
            num_partitions=1,
            replication_factor=1,
            configs=[
                CreatableTopicConfig(name=key, value=value)
                for key, value in configs.get(name, {}).items()
            ],
        )
        for name in (*configs, *names)
    ]
    with WireConnection(address) as connection:
        connection.send_request(CreateTopicsRequest(topics=topics), 7)


def send_frame(address: Address, frame: bytes) -> None:
    """Sends one frame on a connection of its own and waits until the node has dealt with it."""
    with WireConnection(address) as connection:
        connection.socket.settimeout(_ANSWER_SECONDS_MAX)
        with suppress(OSError):
            connection.send(with_size(frame))
            connection.finish()
            connection.receive_end()


def announce_large_frame(address: Address, random: Random) -> None:
    with WireConnection(address) as connection:
        connection.send_what_it_takes(
            struct.pack(">i", _REQUEST_BYTES_MAX - random.randrange(1_000))
        )
        connection.send_what_it_takes(bytes(random.choice((0, 1, 1_000, 10 * _MEBIBYTE))))


def send_bomb(address: Address, random: Random) -> None:
    codec = random.choice((Codec.GZIP, Codec.LZ4, Codec.ZSTD))
    topic = random.choice((_COMPACTED, _RECOMPRESSED, _LARGE))
    records = _bomb(codec, is_dense=random.random() < 0.5)
    data = [PartitionProduceData(records=records)]
    topics = [TopicProduceData(name=topic, partition_data=data)]
    _send_request(address, ProduceRequest(acks=-1, topic_data=topics), 9)


@cache
def _bomb(codec: Codec, *, is_dense: bool) -> bytes:
    """A small batch that opens to 200 MB of zeros, or to nine million records."""
    count = 9_000_000 if is_dense else 1
    body = compress(codec, _RECORD * count if is_dense else bytes(200 * _MEBIBYTE))
    header = read_header(batch_of(b"value", timestamp=-1))
    batch = seal_batch(header._replace(record_count=count, last_offset_delta=count - 1), body)
    struct.pack_into(">h", batch, ATTRIBUTES_AT, codec)
    struct.pack_into(">I", batch, CRC_AT, compute_crc(batch, 0, read_header(batch)))
    return bytes(batch)


def subscribe_by_costly_expression(address: Address, random: Random) -> None:
    expression = random.choice(_EXPRESSIONS)
    if random.random() < 0.5:
        expression = f"({expression})|{random.randrange(1_000)}"
    _join_consumer_group(address, random, expression)


def open_fetch_sessions(address: Address, random: Random) -> None:
    partition = FetchPartition(fetch_offset=0, partition_max_bytes=_MEBIBYTE)
    topics = [FetchTopic(topic=_COMPACTED, partitions=[partition])]
    request = FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=0, topics=topics)
    with WireConnection(address) as connection:
        for _ in range(random.randrange(1, 200)):
            connection.send_request(request, 12)


def join_groups(address: Address, random: Random) -> None:
    protocol = JoinGroupRequestProtocol(name="range", metadata=random.randbytes(10_000))
    for _ in range(10):
        request = JoinGroupRequest(
            group_id=f"hostile-{random.randrange(_GROUPS)}",
            session_timeout_ms=6_000,
            rebalance_timeout_ms=6_000,
            protocol_type="consumer",
            protocols=[protocol],
        )
        with WireConnection(address) as connection:
            # Without an answer to wait for: who joins is gone before the group has formed.
            connection.send(framed(request, 3))
        _join_consumer_group(address, random, None)


class IdleConnections:
    """Connections that say nothing, or a frame byte by byte. The oldest make room for new ones."""

    def __init__(self) -> None:
        self._held: deque[socket.socket] = deque()
        self._frame = framed(MetadataRequest(topics=None), 12)
        self._sent = 0

    def open_more(self, address: Address, random: Random) -> None:
        for _ in range(random.randrange(10)):
            self._held.append(socket.create_connection(address))
        while len(self._held) > _IDLE_CONNECTIONS_MAX:
            self._held.popleft().close()
        byte = self._frame[self._sent % len(self._frame) :][:1]
        self._sent += 1
        for slow in list(self._held)[::2]:
            with suppress(OSError):
                slow.send(byte)

    def close(self) -> None:
        while self._held:
            self._held.popleft().close()


def _join_consumer_group(address: Address, random: Random, expression: str | None) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id=f"hostile-consumer-{random.randrange(_GROUPS)}",
        member_id=f"member-{random.randrange(20)}",
        member_epoch=0,
        rebalance_timeout_ms=6_000,
        subscribed_topic_names=[] if expression is not None else [_COMPACTED],
        subscribed_topic_regex=expression,
        topic_partitions=[],
    )
    _send_request(address, request, 1)


def _send_request(address: Address, request: Message, version: int) -> None:
    """The answer may come late or not at all; that is the steady client's to judge."""
    with suppress(OSError), WireConnection(address) as connection:
        connection.socket.settimeout(_ANSWER_SECONDS_MAX)
        connection.send_request(request, version)
