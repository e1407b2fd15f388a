"""librdkafka's consumer, with partitions assigned by hand."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.cimpl import NewTopic

from tests.conformance.clients import TIMEOUT_S, Message
from tests.conformance.confluent.client import ConfluentClient
from tests.conformance.topics import Topics
from tests.support.nodes.nodes import RunningNode

RECORDS = 5


@pytest.fixture
def client(node: RunningNode) -> ConfluentClient:
    return ConfluentClient(node.bootstrap)


@pytest.fixture
def topic(client: ConfluentClient, topics: Topics) -> str:
    topic = topics.create(partitions=2)
    values = [b"%d" % number for number in range(RECORDS)]
    client.produce(
        topic, [Message(value, partition=partition) for value in values for partition in (0, 1)]
    )
    return topic


def test_a_consumer_seeks_back_and_forth(client: ConfluentClient, topic: str) -> None:
    consumer = client.consumer()
    consumer.assign([TopicPartition(topic, 0, 3)])
    seen = [consumer.consume(1, TIMEOUT_S)[0].offset()]
    for offset in (1, 4, OFFSET_BEGINNING):
        consumer.seek(TopicPartition(topic, 0, offset))
        seen.append(consumer.consume(1, TIMEOUT_S)[0].offset())
    consumer.close()
    assert seen == [3, 1, 4, 0]


def test_a_consumer_is_notified_at_the_end_of_a_partition(
    client: ConfluentClient, topic: str
) -> None:
    consumer = client.consumer(enable_partition_eof=True)
    consumer.assign([TopicPartition(topic, 0, OFFSET_END)])
    end = consumer.poll(TIMEOUT_S)
    assert end is not None
    error = end.error()
    assert error is not None
    assert error.code() == KafkaError._PARTITION_EOF
    assert end.offset() == RECORDS
    consumer.close()


def test_partitions_come_and_go(client: ConfluentClient, topic: str) -> None:
    consumer = client.consumer()
    consumer.incremental_assign([TopicPartition(topic, 0, 0)])
    first = {message.partition() for message in consumer.consume(RECORDS, TIMEOUT_S)}
    consumer.incremental_assign([TopicPartition(topic, 1, 0)])
    consumer.incremental_unassign([TopicPartition(topic, 0)])
    second = {message.partition() for message in consumer.consume(RECORDS, TIMEOUT_S)}
    consumer.close()
    assert (first, second) == ({0}, {1})


def test_a_paused_partition_is_silent(client: ConfluentClient, topic: str) -> None:
    consumer = client.consumer()
    consumer.assign([TopicPartition(topic, partition, 0) for partition in (0, 1)])
    consumer.pause([TopicPartition(topic, 1)])
    before = {message.partition() for message in consumer.consume(RECORDS, TIMEOUT_S)}
    consumer.resume([TopicPartition(topic, 1)])
    after = {message.partition() for message in consumer.consume(RECORDS, TIMEOUT_S)}
    consumer.close()
    assert (before, after) == ({0}, {1})


@pytest.mark.parametrize(("reset", "first"), [("earliest", 0), ("latest", RECORDS)])
def test_an_offset_out_of_range_is_reset(
    client: ConfluentClient, topic: str, reset: str, first: int
) -> None:
    consumer = client.consumer(auto_offset_reset=reset, enable_partition_eof=True)
    consumer.assign([TopicPartition(topic, 0, 1_000)])
    message = consumer.poll(TIMEOUT_S)
    consumer.close()
    assert message is not None
    assert message.offset() == first


def test_an_offset_out_of_range_is_an_error_if_configured(
    client: ConfluentClient, topic: str
) -> None:
    consumer = client.consumer(auto_offset_reset="error")
    consumer.assign([TopicPartition(topic, 0, 1_000)])
    message = consumer.poll(TIMEOUT_S)
    assert message is not None
    error = message.error()
    assert error is not None
    assert error.code() == KafkaError._AUTO_OFFSET_RESET
    consumer.close()


def test_the_admin_lists_offsets(admin: AdminClient, client: ConfluentClient, topic: str) -> None:
    client.produce(topic, [Message(b"old", partition=0, timestamp_ms=1_000)])
    partition = TopicPartition(topic, 0)
    of_any_type: Any = OffsetSpec

    def offset(spec: OffsetSpec) -> int:
        return int(admin.list_offsets({partition: spec})[partition].result().offset)

    assert offset(of_any_type.earliest()) == 0
    assert offset(of_any_type.latest()) == RECORDS + 1
    # The last record is the oldest.
    assert offset(of_any_type.max_timestamp()) < RECORDS
    assert offset(of_any_type.for_timestamp(0)) == 0


def test_records_are_deleted_up_to_an_offset(
    admin: AdminClient, client: ConfluentClient, topic: str
) -> None:
    some, everything = TopicPartition(topic, 0, 2), TopicPartition(topic, 1, OFFSET_END)
    deleted = admin.delete_records([some, everything])
    assert deleted[some].result().low_watermark == 2
    assert deleted[everything].result().low_watermark == RECORDS
    consumer = client.consumer()
    assert consumer.get_watermark_offsets(TopicPartition(topic, 0)) == (2, RECORDS)
    assert consumer.get_watermark_offsets(TopicPartition(topic, 1)) == (RECORDS, RECORDS)
    consumer.close()


def test_records_past_the_end_cannot_be_deleted(admin: AdminClient, topic: str) -> None:
    beyond = TopicPartition(topic, 0, RECORDS + 1)
    with pytest.raises(KafkaException, match="OFFSET_OUT_OF_RANGE"):
        admin.delete_records([beyond])[beyond].result()


def test_a_fetch_waits_for_as_many_bytes_as_it_wants(
    client: ConfluentClient, topics: Topics
) -> None:
    topic = topics.create()
    consumer = client.consumer(fetch_min_bytes=10_000, fetch_wait_max_ms=60_000)
    consumer.assign([TopicPartition(topic, 0, 0)])
    client.produce(topic, [Message(b"too little")])
    assert consumer.poll(0.5) is None

    client.produce(topic, [Message(bytes(10_000))])

    assert len(consumer.consume(2, TIMEOUT_S)) == 2
    consumer.close()


def test_a_waiting_consumer_learns_that_its_topic_is_another_one(
    admin: AdminClient, client: ConfluentClient, topic: str
) -> None:
    wait_s = 20
    consumer = client.consumer(fetch_wait_max_ms=wait_s * 1_000, auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert len(consumer.consume(RECORDS, TIMEOUT_S)) == RECORDS
    admin.delete_topics([topic])[topic].result()
    admin.create_topics([NewTopic(topic, 1)])[topic].result()
    client.produce(topic, [Message(b"new")])

    # Less than the fetch from before would wait.
    message = consumer.poll(wait_s / 2)

    assert message is not None
    assert (message.offset(), message.value()) == (0, b"new")
    consumer.close()
