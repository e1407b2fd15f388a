"""The producer: codecs, keys, sizes, transactions, columns, and connections that brokers close."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from kafka import KafkaAdminClient  # type: ignore[import-untyped]

from ottla.client import (
    ClientError,
    ConsumerGroupMetadata,
    OffsetAndMetadata,
    Producer,
    ProducerFencedError,
    RecordTooLargeError,
    TopicPartition,
    TransactionAbortedError,
)
from ottla.client.producing import transactions
from ottla.client.sync import Producer as SyncProducer
from tests.conformance.client.conftest import BrokerUnderTest
from tests.conformance.client.consumers import run, wait_until
from tests.conformance.clients import CODECS, EARLIEST, Message, Received
from tests.conformance.confluent.client import ConfluentClient

PARTITIONS = 6


@pytest.fixture(params=["V1", "V2"])
def protocol(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The version of the transaction protocol; brokers of Kafka 4 serve clients of both."""
    if request.param == "V1":
        monkeypatch.setattr(transactions, "_FEATURE", "nothing.version")
    return str(request.param)


def producer(broker: BrokerUnderTest, **properties: Any) -> Producer:
    return Producer({"bootstrap.servers": broker.bootstrap}, **properties)


def stored(
    broker: BrokerUnderTest, topic: str, count: int, *, partitions: int = 1, committed: bool = False
) -> list[Received]:
    starts = {(topic, partition): EARLIEST for partition in range(partitions)}
    return ConfluentClient(broker.bootstrap).consume(starts, count, read_committed=committed)


def values(records: list[Received]) -> list[bytes | None]:
    return [record.value for record in records]


@pytest.mark.parametrize("codec", CODECS)
def test_other_clients_read_every_codec(broker: BrokerUnderTest, name: str, codec: str) -> None:
    topic = broker.create_topic(name)
    headers = (("h", b"1"), ("h", None), ("ü", b""))

    async def scenario() -> None:
        async with producer(broker, compression_type=codec) as writer:
            deliveries = [
                await writer.send(
                    topic, b"v" * (n * 10), key=b"k%d" % n, headers=headers, timestamp=1_000 + n
                )
                for n in range(50)
            ]
            deliveries.append(await writer.send(topic, None, key="tombstone", timestamp=5))
            assert [(await each).offset for each in deliveries] == list(range(51))

    run(scenario())
    found = stored(broker, topic, 51)
    assert [(each.key, each.value, each.headers, each.timestamp_ms) for each in found] == [
        *((b"k%d" % n, b"v" * (n * 10), headers, 1_000 + n) for n in range(50)),
        (b"tombstone", None, (), 5),
    ]


@pytest.mark.parametrize("by_columns", [False, True])
def test_keys_go_where_other_producers_send_them(
    broker: BrokerUnderTest, name: str, by_columns: bool
) -> None:
    topic = broker.create_topic(name, PARTITIONS)
    other = broker.create_topic(f"{name}-other", PARTITIONS)
    keys = [b"%d" % n * (n % 7) for n in range(500)]

    async def scenario() -> None:
        async with producer(broker) as writer:
            if by_columns:
                await (await writer.send_columns(topic, {"value": keys, "key": keys}, key="key"))
            else:
                for key in keys:
                    await writer.send(topic, key, key=key)

    run(scenario())
    murmur2 = broker.producer(partitioner="murmur2_random")
    for key in keys:
        murmur2.produce(other, key, key)
    assert murmur2.flush(30) == 0
    ours = {record.key: record.partition for record in stored(broker, topic, 500, partitions=6)}
    theirs = {record.key: record.partition for record in stored(broker, other, 500, partitions=6)}
    # An empty key is a key like any other.
    assert ours == theirs


def test_batches_that_the_topic_refuses_are_split(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name, max_message_bytes="3000")
    values_ = [b"%03d" % n + bytes(500) for n in range(100)]

    async def scenario() -> None:
        async with producer(broker) as writer:
            deliveries = [await writer.send(topic, value) for value in values_]
            assert [(await each).offset for each in deliveries] == list(range(100))
            with pytest.raises(RecordTooLargeError) as refused:
                await writer.send_and_wait(topic, bytes(5_000))
            assert not refused.value.retriable
            # The producer goes on.
            assert (await writer.send_and_wait(topic, b"last")).offset == 100

    run(scenario())
    assert values(stored(broker, topic, 101)) == [*values_, b"last"]


def test_a_closed_idle_connection_is_nothing_that_a_caller_notices(
    broker: BrokerUnderTest, name: str
) -> None:
    """The brokers close connections that are idle for three seconds."""
    topic = broker.create_topic(name)

    async def scenario() -> None:
        async with producer(broker) as writer:
            assert (await writer.send_and_wait(topic, b"first")).offset == 0
            cluster = writer._cluster
            await wait_until(lambda: not any(map(cluster.is_connected, cluster.metadata.nodes)))
            assert (await writer.send_and_wait(topic, b"second")).offset == 1

    run(scenario())


def test_others_read_committed_transactions_and_no_aborted_ones(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name, 2)

    async def scenario() -> None:
        async with producer(broker, transactional_id=name) as writer:
            for number in range(6):
                try:
                    async with writer.transaction():
                        for partition in range(2):
                            await writer.send(topic, b"%d" % number, partition=partition)
                        if number % 2:
                            # Sent, and aborted all the same.
                            await writer.flush()
                            raise LookupError
                except LookupError:
                    continue

    run(scenario())
    found = stored(broker, topic, 6, partitions=2, committed=True)
    assert sorted(values(found), key=str) == [b"0", b"0", b"2", b"2", b"4", b"4"]


def test_records_that_were_not_sent_fail_when_their_transaction_is_aborted(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name)

    async def scenario() -> None:
        async with producer(broker, transactional_id=name, linger_ms=20_000) as writer:
            await writer.init_transactions()
            writer.begin_transaction()
            delivery = await writer.send(topic, b"dropped")
            await writer.abort_transaction()
            with pytest.raises(TransactionAbortedError):
                await delivery
            async with writer.transaction():
                delivery = await writer.send(topic, b"kept")
            assert (await delivery).offset == 0

    run(scenario())
    assert values(stored(broker, topic, 1, committed=True)) == [b"kept"]


def test_offsets_are_committed_with_the_transaction(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name)
    partition = TopicPartition(topic, 0)
    group = ConsumerGroupMetadata(f"{name}-group")

    async def scenario() -> None:
        async with producer(broker, transactional_id=name) as writer:
            async with writer.transaction():
                await writer.send(topic, b"output")
                await writer.send_offsets_to_transaction(
                    {partition: OffsetAndMetadata(7, metadata="note")}, group
                )
            writer.begin_transaction()
            await writer.send_offsets_to_transaction({partition: 9}, group)
            await writer.abort_transaction()

    run(scenario())
    # Not by confluent-kafka, which reads the note past its end.
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    (found,) = admin.list_group_offsets([group.group_id])[group.group_id].values()
    admin.close()
    assert (found.offset, found.metadata) == (7, "note")


def test_a_producer_with_a_newer_twin_is_fenced(
    broker: BrokerUnderTest, name: str, protocol: str
) -> None:
    topic = broker.create_topic(name)

    async def scenario() -> None:
        async with (
            producer(broker, transactional_id=name) as old,
            producer(broker, transactional_id=name) as new,
        ):
            await old.init_transactions()
            old.begin_transaction()
            await old.send_and_wait(topic, b"old")
            async with new.transaction():
                await new.send(topic, b"new")
            with pytest.raises(ProducerFencedError) as fenced:
                await old.commit_transaction()
            assert not fenced.value.retriable
            with pytest.raises(ClientError):
                old.begin_transaction()

    run(scenario())
    assert values(stored(broker, topic, 1, committed=True)) == [b"new"]


def test_tables_are_written_with_every_column(broker: BrokerUnderTest, name: str) -> None:
    topic = broker.create_topic(name, 2)
    table = pa.table(
        {
            "payload": ["zero", None, "two"],
            "id": [b"a", b"b", None],
            "to": pa.array([1, 0, 1], pa.int32()),
            "at": pa.array([5, 1_600_000_000_000, 1_000], pa.int64()),
            "notes": pa.array(
                [[{"key": "h", "value": b"1"}], [], None],
                pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])),
            ),
        }
    )

    async def scenario() -> None:
        async with producer(broker) as writer:
            delivery = await writer.send_columns(
                topic,
                table,
                value="payload",
                key="id",
                partition="to",
                timestamp="at",
                headers="notes",
            )
            written = await delivery
        assert sorted((each.partition, each.row_count) for each in written) == [(0, 1), (1, 2)]

    run(scenario())
    found = stored(broker, topic, 3, partitions=2)
    assert {
        (each.partition, each.key, each.value, each.timestamp_ms, each.headers) for each in found
    } == {
        (0, b"b", None, 1_600_000_000_000, ()),
        (1, None, b"two", 1_000, ()),
        (1, b"a", b"zero", 5, (("h", b"1"),)),
    }


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_the_synchronous_producer_writes_the_same(
    broker: BrokerUnderTest, name: str, acks: str
) -> None:
    topic = broker.create_topic(name)
    messages = [Message(b"%d" % n) for n in range(2_000)]
    with SyncProducer(bootstrap_servers=broker.bootstrap, acks=acks) as writer:
        deliveries = [writer.send(topic, message.value) for message in messages]
    offsets = [each.result().offset for each in deliveries]
    assert offsets == ([-1] * 2_000 if acks == "0" else list(range(2_000)))
    assert values(stored(broker, topic, 2_000)) == [message.value for message in messages]
