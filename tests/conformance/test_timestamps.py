"""Timestamps, by whom they are given and how offsets are found by them."""

from __future__ import annotations

import time

import pytest

from ottla.model import ErrorCode
from ottla.wire.records.header import TimestampType
from tests.conformance.clients import EARLIEST, LATEST, Client, Message, RefusedError
from tests.conformance.topics import Topics

DAY_MS = 24 * 60 * 60 * 1_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def test_records_are_created_when_the_producer_says_so(client: Client, topics: Topics) -> None:
    topic = topics.create()
    before = now_ms()
    client.produce(topic, [Message(b"now", b"")])
    after = now_ms()

    (record,) = client.consume({(topic, 0): EARLIEST}, 1)

    assert record.timestamp_type in ("CreateTime", None)
    assert before <= record.timestamp_ms <= after


def test_the_node_stamps_records_where_the_topic_wants_it(client: Client, topics: Topics) -> None:
    topic = topics.create(message_timestamp_type="LogAppendTime")
    long_ago = 1_000 if client.sets_timestamps else None
    before = now_ms()
    client.produce(topic, [Message(b"now", b"", timestamp_ms=long_ago)], codec="gzip")
    after = now_ms()

    (record,) = client.consume({(topic, 0): EARLIEST}, 1)

    assert record.timestamp_type in ("LogAppendTime", None)
    assert before <= record.timestamp_ms <= after
    assert topics.stored(topic)[0].timestamp_type is TimestampType.LOG_APPEND_TIME


def test_offsets_are_found_by_time(client: Client, writer: Client, topics: Topics) -> None:
    topic = topics.create()
    times = [1_000, 3_000, 2_000, 4_000]
    for timestamp_ms in times:
        writer.produce(topic, [Message(b"then", timestamp_ms=timestamp_ms)], codec="snappy")

    found = {
        requested: client.offset_for(topic, 0, requested)
        for requested in (0, 1_000, 1_001, 3_001, 4_001)
    }

    assert found == {0: 0, 1_000: 0, 1_001: 1, 3_001: 3, 4_001: None}
    assert client.offset_for(topic, 0, EARLIEST) == 0
    assert client.offset_for(topic, 0, LATEST) == len(times)


def test_an_offset_is_found_by_time_in_the_middle_of_a_batch(
    client: Client, writer: Client, topics: Topics
) -> None:
    topic = topics.create()
    messages = [Message(b"%d" % number, timestamp_ms=1_000 + number) for number in range(50)]
    writer.produce(topic, messages, codec="zstd")
    assert len(topics.stored(topic)) < len(messages)

    assert client.offset_for(topic, 0, 1_033) == 33


def test_an_empty_partition_starts_and_ends_at_zero(client: Client, topics: Topics) -> None:
    topic = topics.create()
    assert client.offset_for(topic, 0, EARLIEST) == 0
    assert client.offset_for(topic, 0, LATEST) == 0
    assert client.offset_for(topic, 0, 1_000) is None


def test_a_timestamp_too_far_from_now_is_refused(client: Client, topics: Topics) -> None:
    if not client.sets_timestamps:
        pytest.skip(f"{client.name} cannot set timestamps")
    topic = topics.create(message_timestamp_before_max_ms=str(DAY_MS))
    for wrong in (now_ms() + DAY_MS, now_ms() - 2 * DAY_MS):
        with pytest.raises(RefusedError) as refused:
            client.produce(topic, [Message(b"when?", timestamp_ms=wrong)])
        assert refused.value.code is ErrorCode.INVALID_TIMESTAMP

    client.produce(topic, [Message(b"yesterday", timestamp_ms=now_ms() - DAY_MS // 2)])

    assert [record.value for record in client.consume({(topic, 0): 0}, 1)] == [b"yesterday"]
