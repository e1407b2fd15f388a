"""The sink's writers without Spark: they are plain classes, called as Spark calls them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from unittest.mock import patch

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from ottla.client import Producer as OttlaProducer
from ottla.client.producing.transactions import PreparedTransaction as Identity
from ottla.client.two_phase.commitment import Commitment
from ottla.client.two_phase.decisions import BatchDecision
from ottla.client.two_phase.errors import FencedError, ReplayError, TransactionLostError
from ottla.client.two_phase.journal import Journal
from ottla.pipeline.reading.errors import ClusterError, OptionError
from ottla.pipeline.writing.data_sink import Prepared
from ottla.pipeline.writing.errors import RowError
from ottla.pipeline.writing.options import parse_options
from ottla.pipeline.writing.sink_client import sink_client
from ottla.testing import Cluster
from tests.conformance.kafka.process import reason_unavailable as no_kafka
from tests.support.kafka.kafka_broker import Broker, kafka_broker
from tests.support.soak import IS_SOAK
from tests.support.spark.spark_sink import Died, Query, dying_at, read, rows, values, write_batch

PARTITIONS = 3
ids = count()


# With OTTLA_SOAK=1 all of it is asked of Apache Kafka as well.
KAFKA = pytest.param("kafka", marks=pytest.mark.skipif(bool(no_kafka()), reason="needs its jars"))


@pytest.fixture(scope="module", params=["ottla", KAFKA] if IS_SOAK else ["ottla"])
def cluster(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Cluster() if request.param == "ottla" else kafka_broker() as broker:
        yield broker


@pytest.fixture
def topic(cluster: Broker) -> str:
    name = f"written-{next(ids)}"
    cluster.create_topic(name, partitions=PARTITIONS)
    return name


def query(cluster: Broker, topic: str, **options: str) -> Query:
    return Query(cluster.bootstrap, f"query-of-{topic}", topic=topic, **options)


def numbers(*, start: int = 0, end: int) -> pa.RecordBatch:
    return rows([b"%d" % number for number in range(start, end)])


def once(end: int) -> Counter[bytes]:
    return Counter(b"%d" % number for number in range(end))


SLOTS = [numbers(end=10), numbers(start=10, end=25), numbers(start=25, end=30)]
ALL = once(30)


def test_every_column_arrives(cluster: Broker, topic: str) -> None:
    other = f"{topic}-other"
    cluster.create_topic(other)
    pair = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
    headers = [[{"key": "a", "value": b"1"}, {"key": "ü", "value": None}], None, []]
    batch = rows(
        [b"x", b"y", b"z"],
        key=pa.array([b"k", None, b""], pa.binary()),
        headers=pa.array(headers, pa.list_(pair)),
        topic=pa.array([topic, other, topic]),
        partition=pa.array([2, None, 1], pa.int32()),
    )
    write_batch(cluster.bootstrap, [batch])
    found = {
        message.value(): (message.key(), message.partition(), message.headers())
        for name, expected in ((topic, 2), (other, 1))
        for message in read(cluster.bootstrap, name, count=expected)
    }
    assert found == {
        b"x": (b"k", 2, [("a", b"1"), ("ü", None)]),
        b"y": (None, 0, None),
        b"z": (b"", 1, None),
    }


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_keys_go_where_other_producers_send_them(cluster: Broker, topic: str, codec: str) -> None:
    other = f"{topic}-other"
    cluster.create_topic(other, partitions=PARTITIONS)
    # Batches so small that there are many of each partition, more than are sent at once.
    options = {"kafka.compression.type": codec, "kafka.batch.size": "2000"}
    write_batch(cluster.bootstrap, [numbers(end=3_000)], topic=topic, **options)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "partitioner": "murmur2_random"})
    for number in range(3_000):
        producer.produce(other, b"%d" % number, b"%d" % number)
    assert producer.flush(30) == 0
    ours, theirs = (
        [(message.partition(), message.key()) for message in found]
        for found in (read(cluster.bootstrap, name, count=3_000) for name in (topic, other))
    )
    for partition in range(PARTITIONS):
        mine = [each for each in ours if each[0] == partition]
        assert mine == [each for each in theirs if each[0] == partition]


def test_nothing_is_seen_before_the_commit_and_nothing_after_an_abort(
    cluster: Broker, topic: str
) -> None:
    stream = query(cluster, topic)
    prepared = stream.prepare(0, SLOTS)
    assert not values(cluster.bootstrap, topic, count=0)
    stream.abort(0, [prepared[0], None, prepared[2]])
    stream.run(0, SLOTS)
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_a_task_that_is_tried_again_counts_once(cluster: Broker, topic: str) -> None:
    stream = query(cluster, topic)
    stream.prepare_slot(0, 1, SLOTS[1])
    stream.run(0, SLOTS)
    stream.run(1, [numbers(start=30, end=35), numbers(end=0)])
    assert values(cluster.bootstrap, topic, count=35) == once(35)


@pytest.mark.parametrize("before", [True, False])
def test_a_driver_may_die_at_any_end_of_a_transaction(
    cluster: Broker, topic: str, before: bool
) -> None:
    """The decision's own is the first one, then those of the three tasks."""
    stream = query(cluster, topic)
    for number in range(1, 5):
        batch_id = number - 1
        slots = [
            numbers(start=100 * number + 10 * at, end=100 * number + 10 * (at + 1))
            for at in range(3)
        ]
        prepared = stream.prepare(batch_id, slots)
        with pytest.raises(Died), dying_at(number, before=before):
            stream.commit(batch_id, prepared)
        stream.run(batch_id, slots)
    expected = Counter(b"%d" % (100 * number + at) for number in range(1, 5) for at in range(30))
    assert values(cluster.bootstrap, topic, count=120) == expected


def test_a_decided_batch_is_finished_whatever_comes_of_it_the_second_time(
    cluster: Broker, topic: str
) -> None:
    """Rows that are shared out otherwise over other tasks, as a query without an order may do."""
    stream = query(cluster, topic)
    with pytest.raises(Died), dying_at(2, before=False):
        stream.run(0, SLOTS)
    stream.run(0, [numbers(end=30)])
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_an_abort_after_the_decision_leaves_what_was_decided(cluster: Broker, topic: str) -> None:
    stream = query(cluster, topic)
    prepared = stream.prepare(0, SLOTS)
    with pytest.raises(Died), dying_at(2, before=True):
        stream.commit(0, prepared)
    stream.abort(0, prepared)
    # Had it aborted any, the rows would have to be shared out as before.
    stream.run(0, [numbers(end=30)])
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_a_decided_transaction_that_is_lost_is_written_again(cluster: Broker, topic: str) -> None:
    stream = query(cluster, topic)
    prepared = stream.prepare(0, SLOTS)
    with pytest.raises(Died), dying_at(2, before=True):
        stream.commit(0, prepared)
    abort_as_the_cluster_does(cluster, prepared[1].part.producer)
    with pytest.raises(TransactionLostError, match="tasks 1 were aborted"):
        stream.commit(0, prepared)
    with pytest.raises(ReplayError, match="task 1 has 5 rows now and had 15"):
        stream.prepare(0, [SLOTS[0], SLOTS[2], SLOTS[1]])
    again = stream.prepare(0, SLOTS)
    assert [each.part.producer is None for each in again] == [True, False, True]
    stream.commit(0, again)
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_of_two_that_write_a_lost_transaction_again_one_counts(cluster: Broker, topic: str) -> None:
    stream = query(cluster, topic)
    prepared = stream.prepare(0, SLOTS)
    with pytest.raises(Died), dying_at(2, before=True):
        stream.commit(0, prepared)
    abort_as_the_cluster_does(cluster, prepared[1].part.producer)
    again = stream.prepare(0, SLOTS)
    finish, overtaken = Commitment.finish, False

    async def overtake(self: Commitment, decision: BatchDecision) -> set[int]:
        """The task that found it lost is slow, and another one has committed it meanwhile."""
        nonlocal overtaken
        lost = await finish(self, decision)
        if not overtaken:
            overtaken = True
            assert lost == {1}
            await asyncio.to_thread(stream.commit, 0, again)
        return lost

    with patch.object(Commitment, "finish", overtake):
        late = stream.prepare_slot(0, 1, SLOTS[1])
    stream.commit(0, [again[0], late, again[2]])
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_a_transaction_that_is_lost_before_the_decision_fails_the_whole_batch(
    cluster: Broker, topic: str
) -> None:
    stream = query(cluster, topic)
    prepared = stream.prepare(0, SLOTS)
    abort_as_the_cluster_does(cluster, prepared[2].part.producer)
    with pytest.raises(TransactionLostError, match=r"kafka\.transaction\.timeout\.ms"):
        stream.commit(0, prepared)
    stream.abort(0, prepared)
    assert not values(cluster.bootstrap, topic, count=0)
    stream.run(0, SLOTS)
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_of_two_drivers_the_later_one_counts(cluster: Broker, topic: str) -> None:
    stream = query(cluster, topic)
    old = stream.prepare(0, SLOTS)
    new = stream.prepare(0, SLOTS)
    with pytest.raises(TransactionLostError):
        stream.commit(0, old)
    stream.commit(0, new)
    # It comes too late for everything.
    stream.commit(0, old)
    stream.abort(0, old)
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_a_driver_that_was_overtaken_while_it_decided_is_fenced(
    cluster: Broker, topic: str
) -> None:
    stream = query(cluster, topic)
    prepared = stream.prepare(0, SLOTS)
    overtaken = False
    written = Journal.write_decision

    async def overtake(self: Journal, driver: OttlaProducer, decision: BatchDecision) -> None:
        nonlocal overtaken
        if not overtaken:
            overtaken = True
            await self._client.begun(self._work.driver_transactional_id)
        await written(self, driver, decision)

    with patch.object(Journal, "write_decision", overtake), pytest.raises(FencedError):
        stream.commit(0, prepared)
    assert not values(cluster.bootstrap, topic, count=0)
    stream.commit(0, prepared)
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_a_checkpoint_that_is_too_old_is_refused(cluster: Broker, topic: str) -> None:
    stream = query(cluster, topic)
    stream.run(7, SLOTS)
    with pytest.raises(ReplayError, match="batch 7 is committed already"):
        stream.prepare(6, SLOTS)


def test_a_batch_with_a_write_id_is_in_once(cluster: Broker, topic: str) -> None:
    options = {"topic": topic, "writeId": f"nightly-{topic}"}
    with pytest.raises(Died), dying_at(3, before=True):
        write_batch(cluster.bootstrap, SLOTS, **options)
    for _ in range(2):
        write_batch(cluster.bootstrap, SLOTS, **options)
    for version in ("1", "1", "2"):
        more = numbers(start=20 + 10 * int(version), end=30 + 10 * int(version))
        write_batch(cluster.bootstrap, [more], **options, writeVersion=version)
    assert values(cluster.bootstrap, topic, count=50) == once(50)


def test_a_batch_that_was_decided_and_never_written_again_is_finished_by_the_next(
    cluster: Broker, topic: str
) -> None:
    options = {"topic": topic, "writeId": f"careless-{topic}"}
    with pytest.raises(Died), dying_at(2, before=True):
        write_batch(cluster.bootstrap, SLOTS, **options)
    write_batch(cluster.bootstrap, [numbers(start=30, end=40)], **options, writeVersion="1")
    assert values(cluster.bootstrap, topic, count=40) == once(40)


def test_at_least_once_needs_no_commit(cluster: Broker, topic: str) -> None:
    stream = query(cluster, topic, deliveryGuarantee="at-least-once")
    prepared = stream.prepare(0, SLOTS)
    assert values(cluster.bootstrap, topic, count=30) == ALL
    stream.commit(0, prepared)
    stream.abort(0, prepared)
    assert values(cluster.bootstrap, topic, count=30) == ALL


def test_rows_that_cannot_be_written_fail_the_task_and_say_why(cluster: Broker, topic: str) -> None:
    for batch, reason in (
        (rows([b"x"], topic=pa.array(["nowhere"])), "there is no topic nowhere"),
        (rows([b"x"], topic=pa.array([None], pa.string())), "the row has no topic"),
        (
            rows([b"x"], topic=pa.array([topic]), partition=pa.array([3], pa.int32())),
            "has partitions 0 to 2",
        ),
        (rows([bytes(2_000_000)], topic=pa.array([topic])), r"kafka\.max\.request\.size"),
    ):
        with pytest.raises(RowError, match=reason):
            write_batch(cluster.bootstrap, [batch])


def test_rows_that_cannot_be_written_are_set_aside(cluster: Broker, topic: str) -> None:
    aside = f"{topic}-aside"
    cluster.create_topic(aside)
    batch = rows(
        [b"good", b"lost", b"none", bytes(2_000_000)],
        topic=pa.array([topic, "nowhere", None, topic]),
    )
    write_batch(cluster.bootstrap, [batch], onError="deadletter", deadLetterTopic=aside)
    assert values(cluster.bootstrap, topic, count=1) == Counter([b"good"])
    found = {
        message.value(): dict(message.headers() or ())
        for message in read(cluster.bootstrap, aside, count=3)
    }
    assert found == {
        b"lost": {
            "ottla.error": b"there is no topic nowhere; create it first",
            "ottla.topic": b"nowhere",
        },
        b"none": {"ottla.error": b"the row has no topic, and the option topic is not set"},
        bytes(1_000): {
            "ottla.error": b"the row is larger than kafka.max.request.size, 1048576 bytes",
            "ottla.topic": topic.encode(),
        },
    }


def test_a_timeout_that_brokers_do_not_allow_is_explained(cluster: Broker, topic: str) -> None:
    options = {"kafka.transaction.timeout.ms": "900001"}
    with pytest.raises(OptionError, match=r"raise their transaction\.max\.timeout\.ms"):
        write_batch(cluster.bootstrap, SLOTS, topic=topic, **options)


def test_a_batch_that_the_topic_refuses_is_split_and_a_row_is_explained(cluster: Broker) -> None:
    cluster.create_topic("small-ones", configs={"max.message.bytes": "1000"})
    write_batch(cluster.bootstrap, [numbers(end=200)], topic="small-ones")
    assert values(cluster.bootstrap, "small-ones", count=200) == once(200)
    with pytest.raises(RowError, match=r"raise the topic's max\.message\.bytes"):
        write_batch(cluster.bootstrap, [rows([bytes(1_000)])], topic="small-ones")


def test_a_missing_cluster_and_a_refusing_one_have_different_errors() -> None:
    options = {"topic": "any", "kafka.delivery.timeout.ms": "100"}
    with pytest.raises(ClusterError, match="no response for 100 ms"):
        write_batch("127.0.0.1:1", SLOTS, **options)


def abort_as_the_cluster_does(cluster: Broker, producer: Identity | None) -> None:
    """By a newer producer, which fences the old one as a timeout does."""
    assert producer is not None
    assert producer.transactional_id is not None
    newer = Producer(
        {"bootstrap.servers": cluster.bootstrap, "transactional.id": producer.transactional_id}
    )
    newer.init_transactions(30)


@pytest.mark.skipif(not IS_SOAK, reason="waits for timeouts: make exactly-once")
@pytest.mark.parametrize("is_decided", [False, True])
def test_a_transaction_that_takes_too_long_is_written_again(is_decided: bool) -> None:
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "20"}
    with Cluster(properties=settings) as cluster:
        cluster.create_topic("slow", partitions=PARTITIONS)
        stream = query(cluster, "slow", **{"kafka.transaction.timeout.ms": "5000"})
        prepared = stream.prepare(0, SLOTS)
        if is_decided:
            with pytest.raises(Died), dying_at(2, before=True):
                stream.commit(0, prepared)
        wait_until_over(cluster, prepared)
        with pytest.raises(TransactionLostError, match=r"kafka\.transaction\.timeout\.ms"):
            stream.commit(0, prepared)
        stream.abort(0, prepared)
        assert not values(cluster.bootstrap, "slow", count=0)
        patient = query(cluster, "slow")
        patient.run(0, SLOTS)
        assert values(cluster.bootstrap, "slow", count=30) == ALL


def wait_until_over(cluster: Broker, prepared: Sequence[Prepared]) -> None:
    """The cluster has given up on all of these transactions."""
    given = {"kafka.bootstrap.servers": cluster.bootstrap}
    options = parse_options(given, is_streaming=True)

    async def wait() -> None:
        async with sink_client(options) as opened:
            transactions = opened.transactions
            for each in prepared:
                assert each.part.producer is not None
                while await transactions.is_open(each.part.producer):
                    pass

    asyncio.run(wait())
