"""What consumers without a group rely on: any offset of any partition, and no needless waiting."""

from __future__ import annotations

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from tests.conformance.clients import EARLIEST, LONG_WAIT_MS, Client, Message
from tests.conformance.topics import Topics

PARTITIONS = 4
RECORDS = 10
# Far less than a fetch may wait, and far more than a busy machine needs.
LATENCY_MS_MAX = 100
assert LATENCY_MS_MAX < LONG_WAIT_MS


def filled(topics: Topics, writer: Client) -> str:
    """A topic with the same records in each partition, several batches of them."""
    topic = topics.create(PARTITIONS)
    values = [b"%d" % number for number in range(RECORDS)]
    for part in (values[:4], values[4:]):
        writer.produce(
            topic,
            [Message(value, partition=each) for value in part for each in range(PARTITIONS)],
            codec="lz4",
        )
    return topic


def test_each_partition_is_read_from_its_own_offset(
    client: Client, writer: Client, topics: Topics
) -> None:
    topic = filled(topics, writer)
    starts = {0: EARLIEST, 1: 3, 2: 9}

    received = client.consume(
        {(topic, partition): offset for partition, offset in starts.items()},
        RECORDS + (RECORDS - 3) + (RECORDS - 9),
    )

    for partition, start in starts.items():
        values = [record.value for record in received if record.partition == partition]
        assert values == [b"%d" % number for number in range(max(start, 0), RECORDS)]


def test_offsets_and_times_are_found_in_any_segment(
    client: Client, writer: Client, topics: Topics
) -> None:
    topic = topics.create(segment_bytes="1048576")
    count = 40
    for number in range(count):
        writer.produce(
            topic, [Message(bytes(100_000), b"%d" % number, timestamp_ms=1_000 + number)]
        )
    segments = (topics.node.data_directory / f"{topic}-0").glob("*.log")
    assert len(list(segments)) > 2

    assert client.offset_for(topic, 0, 1_017) == 17
    received = client.consume({(topic, 0): 25}, count - 25)
    assert [record.key for record in received] == [b"%d" % number for number in range(25, count)]


def test_committed_records_are_those_of_all_nontransactional_producers(
    client: Client, writer: Client, topics: Topics
) -> None:
    topic = filled(topics, writer)

    received = client.consume({(topic, 0): EARLIEST}, RECORDS, read_committed=True)

    assert [record.offset for record in received] == list(range(RECORDS))


def test_the_start_of_a_partition_moves_when_records_are_deleted(
    client: Client, writer: Client, topics: Topics, admin: AdminClient
) -> None:
    topic = filled(topics, writer)
    before = TopicPartition(topic, 0, 6)
    assert admin.delete_records([before])[before].result().low_watermark == 6

    received = client.consume({(topic, 0): EARLIEST}, RECORDS - 6)

    assert [record.offset for record in received] == list(range(6, RECORDS))
    assert client.offset_for(topic, 0, EARLIEST) == 6
    assert client.offset_for(topic, 1, EARLIEST) == 0


def test_a_waiting_consumer_gets_a_record_when_it_is_produced(
    client: Client, topics: Topics
) -> None:
    latencies = client.latencies_ms(topics.create(), count=5)

    assert sorted(latencies)[2] < LATENCY_MS_MAX, latencies
