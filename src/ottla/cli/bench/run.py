"""Runs `ottla bench`: one test after the other, on a new topic or a given one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from ottla.cli.bench.latency import Latencies, LatencyTest
from ottla.cli.bench.load import BenchLoad, Throughput
from ottla.cli.bench.report import Report, print_report, report_json
from ottla.cli.bench.throughput import ConsumeTest, ProduceTest, warm_up
from ottla.cli.connection.admin_connection import doing, with_admin
from ottla.cli.connection.cluster_access import ClusterAccess, resolve
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.connection_watch import ConnectionWatch, answers
from ottla.cli.connection.data_clients import new_consumer, new_producer
from ottla.cli.connection.topic_lookup import existing_partitions, latest_offsets
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal
from ottla.client.administration.admin import Admin
from ottla.client.consuming.consumer import Consumer
from ottla.client.producing.producer import Producer
from ottla.model import TopicPartition
from ottla.runtime.clock import Clock


def run_bench(
    options: ClusterOptions,
    terminal: Terminal,
    clock: Clock,
    load: BenchLoad,
    topic: str | None,
    *,
    partitions: int,
    as_json: bool,
) -> None:
    access = resolve(options)
    with_admin(
        options,
        terminal,
        lambda admin: _bench(
            admin, access, terminal, clock, load, topic, partitions=partitions, as_json=as_json
        ),
    )


async def _bench(
    admin: Admin,
    access: ClusterAccess,
    terminal: Terminal,
    clock: Clock,
    load: BenchLoad,
    topic: str | None,
    *,
    partitions: int,
    as_json: bool,
) -> None:
    if topic is not None:
        partitions = len(await existing_partitions(admin, topic))
    async with _topic(admin, topic, f"ottla-bench-{clock.now_ms()}", partitions) as name:
        report = await Bench(admin, access, terminal, clock, load, name, partitions).run()
    if as_json:
        for fields in report_json(report):
            terminal.print_json(fields)
    else:
        print_report(terminal.stdout, report)


class Bench:
    """The three tests on one topic. They leave their records in it."""

    def __init__(
        self,
        admin: Admin,
        access: ClusterAccess,
        terminal: Terminal,
        clock: Clock,
        load: BenchLoad,
        topic: str,
        partition_count: int,
    ) -> None:
        self._admin = admin
        self._access = access
        self._terminal = terminal
        self._clock = clock
        self._load = load
        self._topic = topic
        self._partitions = range(partition_count)
        self._watch = ConnectionWatch(clock, terminal, lambda: answers(admin), is_patient=False)

    async def run(self) -> Report:
        async with self._producer() as producer:
            await warm_up(producer, self._topic)
            starts = await self._ends()
            with self._progress("produce") as progress:
                test = ProduceTest(producer, self._topic)
                produced = await test.run(self._load, self._clock, progress)
        consumed = await self._consume(starts, produced)
        latencies = await self._latencies()
        return Report(self._load, len(self._partitions), produced, consumed, latencies)

    async def _consume(self, starts: Mapping[int, int], produced: Throughput) -> Throughput:
        async with self._consumer(starts) as consumer:
            with self._progress("consume") as progress:
                return await ConsumeTest(consumer, self._watch).run(
                    self._load, produced.records, self._clock, progress
                )

    async def _latencies(self) -> Latencies:
        async with self._producer({"linger.ms": 0}) as producer:
            await warm_up(producer, self._topic)
            async with self._consumer(await self._ends()) as consumer:
                await self._wait_fetching(consumer)
                with self._progress("latency") as progress:
                    test = LatencyTest(producer, consumer, self._topic, self._watch, self._clock)
                    return await test.run(self._load, progress)

    async def _wait_fetching(self, consumer: Consumer) -> None:
        """The first fetches connect, which is not to be measured."""
        while any(consumer.lag(name) is None for name in consumer.assignment()):
            await self._watch.check(has_received=bool(await consumer.poll(0.05)))

    def _producer(self, configs: Mapping[str, object] | None = None) -> Producer:
        load = self._load
        return new_producer(
            self._access,
            {"acks": load.acks, "compression.type": load.compression, **(configs or {})},
        )

    async def _ends(self) -> dict[int, int]:
        return await latest_offsets(self._admin, self._topic, self._partitions)

    @asynccontextmanager
    async def _consumer(self, starts: Mapping[int, int]) -> AsyncIterator[Consumer]:
        async with new_consumer(self._access) as consumer:
            names = {TopicPartition(self._topic, number): at for number, at in starts.items()}
            consumer.assign(names)
            for name, offset in names.items():
                consumer.seek(name, offset)
            yield consumer

    def _progress(self, title: str) -> RecordProgress:
        return RecordProgress(self._terminal.stderr, self._clock, title=title, patience_s=0)


@asynccontextmanager
async def _topic(
    admin: Admin, given: str | None, fresh: str, partitions: int
) -> AsyncIterator[str]:
    """The given topic, or a new one that is deleted afterwards."""
    if given is not None:
        yield given
        return
    with doing(f"create topic {fresh}"):
        await admin.create_topic(fresh, partitions=partitions)
    try:
        yield fresh
    finally:
        with doing(f"delete topic {fresh}"):
            (await admin.delete_topics([fresh])).all()
