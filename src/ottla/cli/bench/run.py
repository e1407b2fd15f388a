"""Runs `ottla bench`: one test after the other, on a new topic or a given one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

from ottla.cli.bench.latency import Latencies, LatencyTest
from ottla.cli.bench.load import BenchLoad, Throughput
from ottla.cli.bench.report import Report, print_report, report_json
from ottla.cli.bench.throughput import ConsumeTest, ProduceTest, warm_up
from ottla.cli.connection.cluster_client import (
    REQUEST_TIMEOUT_S,
    ConnectedCluster,
    producer_configs,
    result_of,
)
from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.connection.deliveries import Deliveries
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal
from ottla.runtime.clock import Clock


def run_bench(
    cluster: ConnectedCluster,
    terminal: Terminal,
    clock: Clock,
    load: BenchLoad,
    topic: str | None,
    *,
    partitions: int,
    as_json: bool,
) -> None:
    if topic is not None:
        partitions = len(cluster.partitions(topic))
    with _topic(cluster, topic, f"ottla-bench-{clock.now_ms()}", partitions) as name:
        report = Bench(cluster, terminal, clock, load, name, partitions).run()
    if as_json:
        for fields in report_json(report):
            terminal.print_json(fields)
    else:
        print_report(terminal.stdout, report)


class Bench:
    """The three tests on one topic. They leave their records in it."""

    def __init__(
        self,
        cluster: ConnectedCluster,
        terminal: Terminal,
        clock: Clock,
        load: BenchLoad,
        topic: str,
        partition_count: int,
    ) -> None:
        self._cluster = cluster
        self._terminal = terminal
        self._clock = clock
        self._load = load
        self._topic = topic
        self._partitions = range(partition_count)
        self._watch = ConnectionWatch(clock, terminal, is_patient=False)

    def run(self) -> Report:
        deliveries = Deliveries()
        configs = {"delivery.report.only.error": True, "on_delivery": deliveries.on_delivery}
        producer = self._cluster.producer(self._producer_configs | configs)
        warm_up(producer, self._topic)
        starts = self._cluster.latest(self._topic, self._partitions)
        with self._progress("produce") as progress:
            test = ProduceTest(producer, self._topic, deliveries)
            produced = test.run(self._load, self._clock, progress)
        consumed = self._consume(starts, produced)
        return Report(self._load, len(self._partitions), produced, consumed, self._latencies())

    def _consume(self, starts: Mapping[int, int], produced: Throughput) -> Throughput:
        with self._consumer(starts) as consumer, self._progress("consume") as progress:
            return ConsumeTest(consumer, self._watch).run(
                self._load, produced.records, self._clock, progress
            )

    def _latencies(self) -> Latencies:
        producer = self._cluster.producer(self._producer_configs | {"linger.ms": 0})
        warm_up(producer, self._topic)
        ends = self._cluster.latest(self._topic, self._partitions)
        with self._consumer(ends) as consumer, self._progress("latency") as progress:
            test = LatencyTest(producer, consumer, self._topic, self._watch)
            test.wait_at_end(len(self._partitions))
            return test.run(self._load, self._clock, progress)

    @property
    def _producer_configs(self) -> dict[str, object]:
        load = self._load
        return producer_configs(acks=load.acks, compression=load.compression, is_long=True)

    @contextmanager
    def _consumer(self, starts: Mapping[int, int]) -> Iterator[Consumer]:
        consumer = self._cluster.consumer({"error_cb": self._watch.on_error})
        consumer.assign(
            [TopicPartition(self._topic, number, offset) for number, offset in starts.items()]
        )
        try:
            yield consumer
        finally:
            consumer.close()

    def _progress(self, title: str) -> RecordProgress:
        return RecordProgress(self._terminal.stderr, self._clock, title=title, patience_s=0)


@contextmanager
def _topic(
    cluster: ConnectedCluster, given: str | None, fresh: str, partitions: int
) -> Iterator[str]:
    """The given topic, or a new one that is deleted afterwards."""
    if given is not None:
        yield given
        return
    topics = [NewTopic(fresh, num_partitions=partitions)]
    created = cluster.admin.create_topics(topics, request_timeout=REQUEST_TIMEOUT_S)
    result_of(created[fresh], f"create topic {fresh}")
    try:
        yield fresh
    finally:
        deleted = cluster.admin.delete_topics([fresh], request_timeout=REQUEST_TIMEOUT_S)
        result_of(deleted[fresh], f"delete topic {fresh}")
