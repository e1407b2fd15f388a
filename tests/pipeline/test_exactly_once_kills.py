"""A streaming copy, or counts of a stream, whose driver, workers, executors or brokers are killed:
each row is in once.

Only with OTTLA_SOAK=1 (`make exactly-once`): a million rows, every kind of kill at several seeded
moments, on Ottla and on Apache Kafka as the broker. OTTLA_ROWS takes fewer.
"""

from __future__ import annotations

import os
import random  # noqa: TID251 - seeded
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.versus.servers import KafkaServer, fresh
from tests.conformance.clients import TIMEOUT_S
from tests.conformance.kafka.process import reason_unavailable as no_kafka
from tests.support.nodes.cluster_processes import ClusterProcesses, NodeOfCluster
from tests.support.nodes.node_process import NodeProcess
from tests.support.nodes.stable_topics import wait_stable
from tests.support.soak import IS_SOAK
from tests.support.spark.copying_query import CopyingQuery, Order, runs
from tests.support.spark.spark import LOCAL
from tests.support.spark.spark import reason_unavailable as no_spark
from tests.support.spark.spark_cluster import executors, spark_cluster

pytestmark = [
    pytest.mark.spark,
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(bool(no_spark()), reason=no_spark() or ""),
    pytest.mark.skipif(not IS_SOAK, reason="takes minutes: make exactly-once"),
]

SOURCE, TARGET = "source", "target"
PARTITIONS = 4
ROWS = int(os.environ.get("OTTLA_ROWS", "1000000"))
BATCHES = 8
SEEDS = range(3)
KEYS = 1_000
KILLS = 4
# Fewer than a producer keeps in its queue.
PIECE = 20_000
NO_LEADER = -1
COUNTS = pytest.mark.parametrize("counts", [False, True], ids=["copy", "counts"])
LOOK_SECONDS = 0.02
# Who asks a node that was killed asks another one after so long.
LOOK_TIMEOUT_S = 0.5


@contextmanager
def ottla(tmp_path: Path) -> Iterator[NodeProcess]:
    with NodeProcess(tmp_path) as node:
        yield node


def prepare(bootstrap: str, *, replicas: int = 1) -> None:
    """Numbered rows in the source, and an empty target."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    topics = [NewTopic(name, PARTITIONS, replicas) for name in (SOURCE, TARGET)]
    for created in admin.create_topics(topics).values():
        created.result()
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 50, "log_level": 0})
    for number in range(ROWS):
        producer.produce(SOURCE, b"row %d" % number, b"%d" % (number % KEYS), number % PARTITIONS)
        if number % PIECE == 0:
            assert producer.flush(TIMEOUT_S) == 0
    assert producer.flush(TIMEOUT_S) == 0


def consumer(bootstrap: str, isolation: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )


def written(looking: Consumer) -> int:
    """Offsets of the target, whatever becomes of them. None that are known while the broker is
    away."""
    total = 0
    with suppress(KafkaException):
        for index in range(PARTITIONS):
            place = TopicPartition(TARGET, index)
            total += looking.get_watermark_offsets(place, LOOK_TIMEOUT_S)[1]
    return total


def assert_each_row_once(bootstrap: str) -> None:
    wait_stable(bootstrap, TARGET, partitions=PARTITIONS)
    reading = consumer(bootstrap, "read_committed")
    reading.assign([TopicPartition(TARGET, index, 0) for index in range(PARTITIONS)])
    counts = bytearray(ROWS)
    ends = 0
    while ends < PARTITIONS:
        for message in reading.consume(10_000, 0.5):
            if message.error() is None:
                counts[int((message.value() or b"")[4:])] += 1
            else:
                ends += 1
    reading.close()
    wrong = [number for number, count in enumerate(counts) if count != 1]
    assert not wrong, f"{len(wrong)} rows are not there once, among them {wrong[:10]}"


def assert_each_row_is_counted_once(bootstrap: str) -> None:
    """Counts that only grow, are never reported twice, and end with all rows."""
    wait_stable(bootstrap, TARGET, partitions=PARTITIONS)
    reading = consumer(bootstrap, "read_committed")
    reading.assign([TopicPartition(TARGET, index, 0) for index in range(PARTITIONS)])
    last: dict[bytes, int] = {}
    ends = 0
    while ends < PARTITIONS:
        for message in reading.consume(10_000, 0.5):
            if message.error() is None:
                key, count = message.key() or b"", int(message.value() or b"")
                assert count > last.get(key, 0), f"{key!r} has {count} after {last[key]}"
                last[key] = count
            else:
                ends += 1
    reading.close()
    assert sum(last.values()) == ROWS


def kill_at_moments(
    bootstrap: str,
    home: Path,
    seed: int,
    kill: Callable[[CopyingQuery], object],
    *,
    counts: bool = False,
    master: str = LOCAL,
    batches: int = BATCHES,
) -> None:
    """Kills whenever so much more was written, until nothing is left to do."""
    dice = random.Random(seed)
    # A batch has one update for each key, however many rows it has.
    highest = KEYS * batches if counts else ROWS
    # The last one early enough for something to be left to do when it is over.
    moments = sorted(dice.randrange(highest * 2 // 3) for _ in range(KILLS))
    looking = consumer(bootstrap, "read_uncommitted")
    order = Order(
        bootstrap,
        SOURCE,
        TARGET,
        str(home),
        rows_per_batch=ROWS // batches,
        master=master,
        counts=counts,
    )
    for query in runs(order):
        while moments and not query.is_over:
            if written(looking) >= moments[0]:
                moments.pop(0)
                kill(query)
            time.sleep(LOOK_SECONDS)
    looking.close()
    if counts:
        assert_each_row_is_counted_once(bootstrap)
    else:
        assert_each_row_once(bootstrap)
    assert not moments, "the copy was over before everything was killed"


@pytest.mark.parametrize("seed", SEEDS)
@COUNTS
@pytest.mark.parametrize("kind", ["driver", "worker"])
def test_spark_is_killed(tmp_path: Path, kind: str, counts: bool, seed: int) -> None:
    with ottla(tmp_path) as node:
        prepare(node.bootstrap)
        kill_at_moments(node.bootstrap, tmp_path, seed, KILL[kind], counts=counts)


@pytest.mark.parametrize("seed", SEEDS)
@COUNTS
def test_the_broker_is_killed(tmp_path: Path, counts: bool, seed: int) -> None:
    """It leads all partitions and coordinates all transactions."""
    with ottla(tmp_path) as node:
        prepare(node.bootstrap)

        def kill(_query: CopyingQuery) -> None:
            node.kill()
            node.start()

        kill_at_moments(node.bootstrap, tmp_path, seed, kill, counts=counts)


@pytest.mark.parametrize("seed", SEEDS)
@COUNTS
def test_an_executor_is_killed(tmp_path: Path, counts: bool, seed: int) -> None:
    """One of the two processes of a Spark cluster in which tasks run, with their workers."""
    dice = random.Random(seed)

    def kill(_query: CopyingQuery) -> None:
        if running := executors(tmp_path):
            os.kill(dice.choice(running), signal.SIGKILL)

    with ottla(tmp_path) as node, spark_cluster(tmp_path, workers=2) as master:
        prepare(node.bootstrap)
        kill_at_moments(node.bootstrap, tmp_path, seed, kill, counts=counts, master=master)


@pytest.mark.parametrize("seed", SEEDS)
@COUNTS
@pytest.mark.parametrize("topic", [TARGET, "__transaction_state"])
def test_who_leads_of_three_is_killed(tmp_path: Path, topic: str, counts: bool, seed: int) -> None:
    """A partition that is written to, or all transactions."""
    with ClusterProcesses(tmp_path, {"transaction.state.log.num.partitions": "1"}) as cluster:
        prepare(cluster.bootstrap, replicas=3)
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})

        starting: list[NodeOfCluster] = []

        def kill(_query: CopyingQuery) -> None:
            while starting:
                starting.pop().wait_ready()
            leader = NO_LEADER
            while leader == NO_LEADER:
                leader = admin.list_topics(topic, TIMEOUT_S).topics[topic].partitions[0].leader
            cluster.nodes[leader].kill()
            cluster.nodes[leader].start()
            starting.append(cluster.nodes[leader])

        # Others go on at once, and have to be at work still when the last one is killed.
        kill_at_moments(cluster.bootstrap, tmp_path, seed, kill, counts=counts, batches=4 * BATCHES)


@pytest.mark.java
@pytest.mark.skipif(bool(no_kafka()), reason="needs Apache Kafka's jars")
@pytest.mark.parametrize("seed", SEEDS)
@COUNTS
@pytest.mark.parametrize("kind", ["driver", "worker"])
def test_the_same_with_apache_kafka_as_the_broker(kind: str, counts: bool, seed: int) -> None:
    with fresh(KafkaServer) as broker, tempfile.TemporaryDirectory() as home:
        broker.start()
        prepare(broker.address)
        kill_at_moments(broker.address, Path(home), seed, KILL[kind], counts=counts)


KILL: dict[str, Callable[[CopyingQuery], object]] = {
    "driver": CopyingQuery.kill_driver,
    "worker": CopyingQuery.kill_worker,
}
