"""What producers rely on: acknowledgements, idempotence, limits, who gets which key."""

from __future__ import annotations

import zlib

import pytest

from ottla.model import ErrorCode
from tests.conformance.clients import EARLIEST, Client, Message, RefusedError
from tests.conformance.topics import Topics

MEGABYTE = 1_000_000
PARTITIONS = 6

# Known hashes of Kafka's partitioner (murmur2).
MURMUR2 = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}
PARTITIONS_OF_KAFKA = {key: (value & 0x7FFFFFFF) % PARTITIONS for key, value in MURMUR2.items()}
PARTITIONS_OF_LIBRDKAFKA = {key: zlib.crc32(key) % PARTITIONS for key in MURMUR2}


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_records_arrive_with_every_acks_setting(client: Client, topics: Topics, acks: str) -> None:
    topic = topics.create()
    client.produce(topic, [Message(b"a", b""), Message(b"b", b"")], acks=acks)

    received = client.consume({(topic, 0): EARLIEST}, 2)

    assert [record.value for record in received] == [b"a", b"b"]


def test_an_idempotent_producer_numbers_its_batches(client: Client, topics: Topics) -> None:
    topic = topics.create()
    messages = [Message(b"%d" % number, b"") for number in range(100)]
    if client.name == "kcat":
        # It is a new producer for each message.
        messages = messages[:3]

    positions = client.produce(topic, messages, is_idempotent=True)

    assert [position.offset for position in positions] == list(range(len(messages)))
    next_sequences: dict[int, int] = {}
    for header in topics.stored(topic):
        assert header.producer_id >= 0
        assert header.base_sequence == next_sequences.get(header.producer_id, 0)
        next_sequences[header.producer_id] = header.base_sequence + header.record_count
    assert sum(next_sequences.values()) == len(messages)


def test_ten_megabytes_pass_where_the_topic_allows_them(client: Client, topics: Topics) -> None:
    topic = topics.create(max_message_bytes=str(11 * MEGABYTE))
    value = bytes(range(250)) * (10 * MEGABYTE // 250)
    client.produce(topic, [Message(value, b"big")], request_bytes_max=11 * MEGABYTE)
    client.produce(topic, [Message(b"small", b"")])

    received = client.consume({(topic, 0): EARLIEST}, 2, fetch_bytes_max=11 * MEGABYTE)

    assert [record.value for record in received] == [value, b"small"]


def test_a_batch_larger_than_the_fetch_size_is_sent_all_the_same(
    client: Client, topics: Topics
) -> None:
    topic = topics.create(max_message_bytes=str(4 * MEGABYTE))
    value = bytes(2 * MEGABYTE)
    client.produce(topic, [Message(value, b"big")], request_bytes_max=4 * MEGABYTE)

    (record,) = client.consume({(topic, 0): EARLIEST}, 1, fetch_bytes_max=1_000)

    assert record.value == value


def test_a_batch_larger_than_the_topic_allows_is_refused(client: Client, topics: Topics) -> None:
    topic = topics.create(max_message_bytes="20000")
    with pytest.raises(RefusedError) as refused:
        client.produce(topic, [Message(bytes(30_000), b"big")])
    assert refused.value.code is ErrorCode.MESSAGE_TOO_LARGE

    client.produce(topic, [Message(bytes(10_000), b"small")])

    (record,) = client.consume({(topic, 0): EARLIEST}, 1)
    assert record.key == b"small"


def test_a_key_goes_to_the_partition_that_it_has_with_kafka(client: Client, topics: Topics) -> None:
    topic = topics.create(PARTITIONS)
    is_librdkafka = client.name in ("confluent", "kcat")
    expected = PARTITIONS_OF_LIBRDKAFKA if is_librdkafka else PARTITIONS_OF_KAFKA

    positions = client.produce(topic, [Message(b"", key) for key in MURMUR2])

    found = {key: position.partition for key, position in zip(MURMUR2, positions, strict=True)}
    assert found == expected


def test_a_compacted_topic_takes_no_record_without_a_key(client: Client, topics: Topics) -> None:
    topic = topics.create(cleanup_policy="compact")
    with pytest.raises(RefusedError) as refused:
        client.produce(topic, [Message(b"no key")])
    # aiokafka does not know this error.
    is_known = client.name != "aiokafka"
    expected = ErrorCode.INVALID_RECORD if is_known else ErrorCode.UNKNOWN_SERVER_ERROR
    assert refused.value.code is expected
