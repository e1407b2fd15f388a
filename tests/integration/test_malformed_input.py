"""A real node under input that no client should send, while another client works on unharmed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random  # noqa: TID251 - the seed is the test's input

import pytest

from ottla.model import ErrorCode
from ottla.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.wire.messages.metadata import MetadataRequest
from ottla.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.wire.records.compression import Codec, compress
from ottla.wire.records.header import HEADER_BYTES
from tests.support.kafka.recorded_requests import CLIENTS, recorded_requests
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.steady_client import SteadyClient
from tests.support.nodes.wire_connection import WireConnection, framed, with_size
from tests.support.soak import at_scale
from tests.support.storage.batches import batch_around, batch_of, raw_record

MEBIBYTE = 1 << 20
# What a node may ever take more than at its start, whatever it is sent: a batch's 64 MiB opened,
# twice, and one frame.
PEAK_BYTES_MAX = 256 * MEBIBYTE
# What it may keep of that.
KEPT_BYTES_MAX = 96 * MEBIBYTE
STEADY_SECONDS_MAX = 5.0
CODECS = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)
# The topics, all but the first of which have to open batches.
PLAIN, COMPACTED, RECOMPRESSED, HUGE = "plain", "compacted", "recompressed", "huge"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    configs: dict[str, dict[str, str]] = {
        PLAIN: {},
        COMPACTED: {"cleanup.policy": "compact"},
        RECOMPRESSED: {"compression.type": "uncompressed"},
        HUGE: {"cleanup.policy": "compact", "max.message.bytes": "100000000"},
    }
    topics = [
        CreatableTopic(
            name=name,
            num_partitions=1,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=key, value=value) for key, value in each.items()],
        )
        for name, each in configs.items()
    ]
    with NodeProcess(tmp_path_factory.mktemp("node")) as node:
        with WireConnection(node.address) as connection:
            connection.send_request(CreateTopicsRequest(topics=topics), 7)
        yield node


@pytest.fixture(autouse=True)
def unharmed(node: NodeProcess) -> Iterator[None]:
    """Around every test: a client at work, memory within bounds, and no exception in the log."""
    before = node.resident_bytes
    node.forget_peak()
    with SteadyClient(node.address) as steady:
        yield
    assert steady.slowest_seconds < STEADY_SECONDS_MAX
    assert node.resident_bytes_peak - before < PEAK_BYTES_MAX
    assert node.resident_bytes - before < KEPT_BYTES_MAX
    node.assert_no_traceback()


def exchange(node: NodeProcess, data: bytes) -> bytes:
    """What the node sends to a client that sends this and then nothing more."""
    with WireConnection(node.address) as connection:
        connection.send_what_it_takes(data)
        connection.finish()
        return connection.receive_end()


# ---- other protocols, and none

NOT_KAFKA = {
    "http": b"GET / HTTP/1.1\r\nHost: broker\r\n\r\n",
    "a TLS ClientHello": bytes.fromhex("16030100c6010000c20303") + bytes(range(195)),
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
    "ones": b"\xff" * 100,
    "a negative size": struct.pack(">i", -1),
    "a huge size": struct.pack(">i", 2**31 - 1) + bytes(1000),
    "an empty frame": struct.pack(">i", 0),
    "a frame without a header": struct.pack(">i", 3) + b"abc",
    "an unknown API": with_size(struct.pack(">hhih", 999, 0, 1, -1)),
    "an unknown version": with_size(struct.pack(">hhih", 3, 99, 1, -1) + bytes(20)),
}


@pytest.mark.parametrize("name", NOT_KAFKA)
def test_what_is_not_the_protocol_is_closed_without_a_word(node: NodeProcess, name: str) -> None:
    with WireConnection(node.address) as connection:
        connection.send(NOT_KAFKA[name])
        assert connection.receive_end() == b""


def test_random_bytes_are_answered_or_closed(node: NodeProcess) -> None:
    random = Random(1)
    for _ in range(at_scale(quick=100, soak=5_000)):
        data = random.randbytes(random.randrange(500))
        exchange(node, data)
        exchange(node, with_size(bytes((0, random.randrange(90), 0, random.randrange(14))) + data))


def test_huge_counts_are_refused_at_once(node: NodeProcess) -> None:
    header = struct.pack(">hhih", 3, 1, 1, -1)
    assert exchange(node, with_size(header + struct.pack(">i", 2**31 - 1))) == b""
    names = struct.pack(">i", 10_000_000) + bytes(20_000_000)
    assert exchange(node, with_size(header + names)) == b""
    tags = b"\x80\x80\x80\x04" + b"".join(
        bytes((0x80 | tag & 127, 0x80 | tag >> 7 & 127, tag >> 14, 0)) for tag in range(1 << 18)
    )
    flexible = struct.pack(">hhih", 3, 12, 1, -1)
    assert exchange(node, with_size(flexible + tags)) == b""


def test_frames_that_are_announced_and_never_completed_leave_no_memory_behind(
    node: NodeProcess,
) -> None:
    started = struct.pack(">i", 100 * MEBIBYTE) + bytes(20 * MEBIBYTE)
    for _ in range(at_scale(quick=8, soak=50)):
        with WireConnection(node.address) as first, WireConnection(node.address) as second:
            first.send_what_it_takes(started)
            second.send_what_it_takes(started)
            first.finish()
            second.finish()
            assert first.receive_end() == second.receive_end() == b""


def test_a_resource_named_ten_thousand_times_is_answered_once(node: NodeProcess) -> None:
    broker = DescribeConfigsResource(resource_type=4, resource_name="1")
    with WireConnection(node.address) as connection:
        answer = connection.send_request(DescribeConfigsRequest(resources=[broker] * 10_000), 4)
    assert len(answer.results) == 1


def test_requests_of_real_clients_with_errors_in_them_do_no_harm(node: NodeProcess) -> None:
    random = Random(2)
    frames = [frame for client in CLIENTS for frame in recorded_requests(client)]
    for _ in range(at_scale(quick=300, soak=20_000)):
        frame = bytearray(random.choice(frames))
        for _ in range(random.choice((1, 1, 1, 5))):
            frame[random.randrange(4, len(frame))] = random.choice((0, 1, 127, 128, 255))
        exchange(node, with_size(bytes(frame)[: random.choice((len(frame), 10_000, 30))]))


def test_pipelined_requests_wait_while_their_answers_are_not_read(
    node: NodeProcess,
) -> None:
    with WireConnection(node.address, receive_buffer=4096) as connection:
        connection.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            connection.send(framed(MetadataRequest(topics=None), 12) * 1_000_000)
        connection.socket.settimeout(30)
        for _ in range(100):
            assert connection.receive_frame()


# ---- records


def produce(node: NodeProcess, topic: str, records: bytes) -> ErrorCode:
    data = [PartitionProduceData(records=records)]
    request = ProduceRequest(
        acks=-1, topic_data=[TopicProduceData(name=topic, partition_data=data)]
    )
    with WireConnection(node.address) as connection:
        (answer,) = connection.send_request(request, 9).responses[0].partition_responses
    return ErrorCode(answer.error_code)


def records(count: int) -> bytes:
    """The smallest records that have keys."""
    return b"".join(raw_record(offset=number, key=b"", value=b"") for number in range(count))


def around(body: bytes, *, codec: Codec, count: int = 1) -> bytes:
    return bytes(batch_around(body, codec=codec, count=count, timestamp=-1))


def test_a_batch_with_a_wrong_checksum_is_refused(node: NodeProcess) -> None:
    batch = batch_of(b"value", key=b"key", timestamp=-1)
    for position in (HEADER_BYTES, len(batch) - 1):
        broken = bytearray(batch)
        broken[position] ^= 1
        assert produce(node, PLAIN, bytes(broken)) is ErrorCode.CORRUPT_MESSAGE


def test_no_batch_and_half_a_batch_are_refused(node: NodeProcess) -> None:
    batch = bytes(batch_of(b"value", key=b"key", timestamp=-1))
    for records in (b"", batch[:20], batch[:-1], batch + b"\0", batch * 2):
        assert produce(node, PLAIN, records) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("topic", [COMPACTED, RECOMPRESSED])
@pytest.mark.parametrize("codec", CODECS)
def test_compressed_data_that_is_broken_is_refused_where_it_is_opened(
    node: NodeProcess, topic: str, codec: Codec
) -> None:
    random = Random(codec)
    whole = compress(codec, records(1_000))
    assert produce(node, topic, around(whole, codec=codec, count=1_000)) is ErrorCode.NONE
    bodies = [whole[: len(whole) // 2], whole[:-1], b"", b"\xff" * 50, random.randbytes(500)]
    for body in bodies:
        batch = around(body, codec=codec, count=1_000)
        assert produce(node, topic, batch) is ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("topic", [COMPACTED, RECOMPRESSED])
@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.LZ4, Codec.ZSTD])
def test_bombs_are_refused_before_they_take_much(
    node: NodeProcess, topic: str, codec: Codec
) -> None:
    large = around(compress(codec, bytes(200 * MEBIBYTE)), codec=codec)
    assert len(large) < MEBIBYTE
    assert produce(node, topic, large) is ErrorCode.INVALID_RECORD
    count = 9_000_000
    dense = around(compress(codec, raw_record() * count), codec=codec, count=count)
    assert produce(node, topic, dense) is ErrorCode.INVALID_RECORD


def test_bombs_are_refused_where_messages_of_100_megabytes_are_allowed(node: NodeProcess) -> None:
    large = around(compress(Codec.GZIP, bytes(300 * MEBIBYTE)), codec=Codec.GZIP)
    assert len(large) < MEBIBYTE
    assert produce(node, HUGE, large) is ErrorCode.INVALID_RECORD
    count = 300_000
    many = around(compress(Codec.ZSTD, records(count)), codec=Codec.ZSTD, count=count)
    # They take a worker a second or two, but do not delay other clients.
    assert produce(node, HUGE, many) is ErrorCode.NONE
    assert produce(node, HUGE, around(records(1), codec=Codec.NONE)) is ErrorCode.NONE


@pytest.mark.parametrize("count", [0, -1, 2, 2**31 - 1])
def test_a_count_that_the_records_do_not_bear_out_is_refused(node: NodeProcess, count: int) -> None:
    batch = around(raw_record(), codec=Codec.NONE, count=count)
    assert produce(node, COMPACTED, batch) is ErrorCode.INVALID_RECORD
