"""Reading without a group: positions, offsets, codecs, transactions and columns."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ottla.client import OffsetAndMetadata, TopicPartition
from ottla.client.consuming.errors import NoOffsetForPartitionError, PositionOutOfRangeError
from ottla.client.errors import IllegalStateError, TimedOutError
from ottla.wire.records import TimestampType
from tests.conformance.client.conftest import BrokerUnderTest
from tests.conformance.client.consumers import consumer, numbers, read, run
from tests.conformance.clients import CODECS, Message
from tests.conformance.confluent.client import ConfluentClient


def all_of(topic: str, partitions: int) -> list[TopicPartition]:
    return [TopicPartition(topic, index) for index in range(partitions)]


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_is_read_as_it_was_written(
    broker: BrokerUnderTest, name: str, codec: str
) -> None:
    topic = broker.create_topic(name)
    headers = (("h", b"1"), ("h", None), ("ü", b""))
    messages = [
        Message(b"v" * (index * 10), b"k%d" % index, headers, timestamp_ms=1_000 + index)
        for index in range(50)
    ]
    messages.append(Message(None, b"tombstone", timestamp_ms=2_000))
    ConfluentClient(broker.bootstrap).produce(topic, messages, codec=codec)

    async def scenario() -> None:
        async with consumer(broker.bootstrap) as reader:
            reader.assign(all_of(topic, 1))
            found = await read(reader, len(messages))
            assert [(each.key, each.value, each.headers, each.timestamp) for each in found] == [
                (each.key, each.value, each.headers, each.timestamp_ms) for each in messages
            ]
            assert [each.offset for each in found] == list(range(len(messages)))
            assert {each.timestamp_type for each in found} == {TimestampType.CREATE_TIME}

            reader.seek_to_beginning()
            rows: list[Any] = []
            while len(rows) < len(messages):
                batch = await reader.poll_columns(10.0)
                assert batch is not None
                rows += batch.to_pylist()
            assert [(row["key"], row["value"], row["offset"]) for row in rows] == [
                (each.key, each.value, each.offset) for each in found
            ]
            assert [
                tuple((each["key"], each["value"]) for each in row["headers"]) for row in rows
            ] == [each.headers for each in found]

    run(scenario())


def test_positions_move_with_what_was_handed_out(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name, 2)
    broker.fill(topic, 40, partitions=2)
    first, second = all_of(topic, 2)

    async def scenario() -> None:
        async with consumer(broker.bootstrap) as reader:
            reader.assign([first])
            assert await reader.position(first) == 0
            assert len(await reader.poll(10.0, max_records=7)) == 7
            assert await reader.position(first) == 7
            assert reader.lag(first) == 13

            reader.seek(first, 15)
            assert [each.offset for each in await read(reader, 5)] == [15, 16, 17, 18, 19]
            reader.seek(first, OffsetAndMetadata(18, 0))
            assert [each.offset for each in await read(reader, 2)] == [18, 19]

            reader.seek_to_end([first])
            assert await reader.position(first) == 20
            assert reader.lag(first) in (0, None)

            reader.assign([first, second])
            assert await reader.position(first) == 20, "it was assigned before"
            assert {each.partition for each in await read(reader, 20)} == {1}
            with pytest.raises(IllegalStateError, match="not assigned"):
                reader.seek(TopicPartition(topic, 7), 0)

    run(scenario())


def test_iteration_has_exact_positions_and_follows_seeks(
    broker: BrokerUnderTest, name: str
) -> None:
    topic = broker.create_topic(name)
    broker.fill(topic, 30)
    (only,) = all_of(topic, 1)

    async def scenario() -> None:
        async with consumer(broker.bootstrap) as reader:
            reader.assign([only])
            seen = []
            async for record in reader:
                seen.append(record.offset)
                assert await reader.position(only) == record.offset + 1
                if record.offset == 10 and seen.count(10) == 1:
                    reader.seek(only, 5)
                if record.offset == 20:
                    reader.pause([only])
                    assert await reader.poll(0.2) == []
                    reader.resume([only])
                if record.offset == 29:
                    break
            assert seen == [*range(11), *range(5, 30)]

    run(scenario())


def test_offsets_are_found_by_time_and_at_both_ends(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name, 2)
    messages = [Message(b"v", partition=0, timestamp_ms=1_000 + 10 * n) for n in range(10)]
    ConfluentClient(broker.bootstrap).produce(topic, messages)
    first, empty = all_of(topic, 2)

    async def scenario() -> None:
        async with consumer(broker.bootstrap, allow_auto_create_topics=False) as reader:
            assert await reader.beginning_offsets([first, empty]) == {first: 0, empty: 0}
            assert await reader.end_offsets([first, empty]) == {first: 10, empty: 0}
            found = await reader.offsets_for_times({first: 1_035, empty: 1_000})
            assert found[empty] is None
            assert found[first] == (4, 1_040, 0)
            assert await reader.partitions_for(topic) == (first, empty)
            assert await reader.partitions_for(f"no-{topic}") == ()
            assert topic in await reader.topics()
            with pytest.raises(TimedOutError):
                await reader.end_offsets([TopicPartition(topic, 9)], timeout=0.5)

    run(scenario())


def test_a_reader_starts_where_the_policy_says(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name)
    messages = [Message(b"%d" % n, timestamp_ms=1_000 + n) for n in range(10)]
    ConfluentClient(broker.bootstrap).produce(topic, messages)
    ConfluentClient(broker.bootstrap).produce(topic, [Message(b"now")])
    (only,) = all_of(topic, 1)

    async def scenario() -> None:
        for policy, expected in (("latest", 11), ("earliest", 0), ("by_duration:PT1H", 10)):
            async with consumer(broker.bootstrap, auto_offset_reset=policy) as reader:
                reader.assign([only])
                assert await reader.position(only) == expected

        async with consumer(broker.bootstrap, auto_offset_reset="none") as reader:
            reader.assign([only])
            with pytest.raises(NoOffsetForPartitionError, match=r"no position is known"):
                await read(reader, 1)
            reader.seek(only, 99)
            with pytest.raises(
                PositionOutOfRangeError, match=r"99 in .*out of range|out of range: 99"
            ):
                await read(reader, 1)
            reader.seek(only, 10)
            assert len(await read(reader, 1)) == 1

        async with consumer(broker.bootstrap) as reader:
            reader.assign([only])
            reader.seek(only, 99)
            assert [each.offset for each in await read(reader, 11)] == list(range(11))

    run(scenario())


def test_a_position_before_the_start_of_the_log_is_reset(
    broker: BrokerUnderTest, name: str
) -> None:
    from confluent_kafka import TopicPartition as Deleted

    topic = broker.create_topic(name)
    broker.fill(topic, 20)
    (only,) = all_of(topic, 1)
    deleted = Deleted(topic, 0, 12)
    broker.admin.delete_records([deleted])[deleted].result()

    async def scenario() -> None:
        async with consumer(broker.bootstrap) as reader:
            reader.assign([only])
            reader.seek(only, 3)
            assert [each.offset for each in await read(reader, 8)] == list(range(12, 20))
            assert await reader.beginning_offsets([only]) == {only: 12}

    run(scenario())


def test_only_committed_transactions_are_read_with_read_committed(
    broker: BrokerUnderTest, name: str
) -> None:
    topic = broker.create_topic(name)
    producer = broker.producer(transactional_id=name)
    producer.init_transactions()
    for number, outcome in enumerate("cacca"):
        producer.begin_transaction()
        for _ in range(3):
            producer.produce(topic, b"%d" % number)
        producer.flush()
        if outcome == "c":
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.begin_transaction()
    producer.produce(topic, b"open")
    producer.flush()
    (only,) = all_of(topic, 1)

    async def scenario() -> None:
        async with consumer(broker.bootstrap, isolation_level="read_committed") as reader:
            reader.assign([only])
            found = await read(reader, 9)
            assert [int(each.value or b"") for each in found] == [0] * 3 + [2] * 3 + [3] * 3
            assert await reader.poll(0.3) == []
            # Behind the last marker, where the open transaction begins.
            assert await reader.end_offsets([only]) == {only: await reader.position(only)}

            reader.seek_to_beginning()
            values: list[bytes] = []
            while len(values) < 9:
                rows = await reader.poll_columns(10.0)
                assert rows is not None
                values += rows["value"].to_pylist()
            assert values == [each.value for each in found]
        async with consumer(broker.bootstrap) as reader:
            reader.assign([only])
            assert len(await read(reader, 16)) == 16

    run(scenario())
    producer.abort_transaction()


def test_a_topic_that_is_created_later_is_read(broker: BrokerUnderTest, name: str) -> None:
    (only,) = all_of(name, 1)

    async def scenario() -> None:
        async with consumer(broker.bootstrap, allow_auto_create_topics=False) as reader:
            reader.assign([only])
            assert await reader.poll(0.3) == []
            broker.create_topic(name)
            broker.fill(name, 5)
            assert numbers(await read(reader, 5)) == list(range(5))

    run(scenario())


def test_idle_connections_that_the_broker_closes_are_nothing_to_notice(
    broker: BrokerUnderTest, name: str
) -> None:
    """The broker closes them after three seconds; this client would keep them for minutes."""
    topic = broker.create_topic(name)
    broker.fill(topic, 10)
    (only,) = all_of(topic, 1)

    async def scenario() -> None:
        async with consumer(broker.bootstrap, group_id=name) as reader:
            reader.assign([only])
            assert len(await read(reader, 10)) == 10
            await reader.commit()
            reader.pause([only])
            # Nothing is sent meanwhile but what the pause has not stopped.
            assert await reader.poll(5.0) == []
            reader.resume([only])
            await reader.commit({only: 4})
            committed = (await reader.committed([only]))[only]
            assert committed is not None
            assert committed.offset == 4
            broker.fill(topic, 3)
            assert [each.offset for each in await read(reader, 3)] == [10, 11, 12]

    run(scenario())


def test_large_records_and_small_limits_get_through(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name, 2)
    messages = [Message(bytes(200_000), partition=n % 2) for n in range(20)]
    ConfluentClient(broker.bootstrap).produce(topic, messages)

    async def scenario() -> None:
        limits = {"max_partition_fetch_bytes": 1_000, "prefetch_max_bytes": 10_000}
        async with consumer(broker.bootstrap, **limits) as reader:
            reader.assign(all_of(topic, 2))
            found = await read(reader, 20)
            by_partition = itertools.groupby(sorted(found), lambda each: each.partition)
            for _, records in by_partition:
                assert [each.offset for each in records] == list(range(10))

    run(scenario())


def test_memory_of_a_consumer_that_falls_behind_stays_within_its_bound(
    broker: BrokerUnderTest, name: str
) -> None:
    """What is fetched ahead, whatever the number of partitions; only one batch may be beyond it."""
    partitions, bound, batch = 8, 4 << 20, 1 << 20
    topic = broker.create_topic(name, partitions)
    value = bytes(100_000)
    messages = [Message(value, partition=n % partitions) for n in range(400)]
    ConfluentClient(broker.bootstrap).produce(topic, messages)

    async def scenario() -> None:
        async with consumer(broker.bootstrap, prefetch_max_bytes=bound) as reader:
            reader.assign(all_of(topic, partitions))
            held, taken = 0, 0
            while taken < len(messages):
                taken += len(await reader.poll(0.01, max_records=1))
                held = max(held, int(reader.metrics()["prefetched-bytes"]))
            assert bound // 2 < held <= bound + batch
            # Paused partitions keep no others from being read.
            reader.seek_to_beginning()
            assert await reader.poll(5.0, max_records=1)
            rest = set(all_of(topic, partitions)) - {TopicPartition(topic, 0)}
            reader.pause(rest)
            reader.seek_to_beginning([TopicPartition(topic, 0)])
            assert {each.partition for each in await read(reader, 50)} == {0}

    run(scenario())
