"""How long a scrape or an export of 50,000 series keeps the node from handling requests."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from ottla.testing import Cluster
from tests.support.monitoring.otlp_collector import OtlpCollector
from tests.support.monitoring.scraping import Scrape
from tests.support.nodes.cluster_processes import wait_until

PARTITIONS = 250
# Each has three series for each partition.
GROUPS = 66
SERIES_MIN = 50_000
# Each has labels.
BYTES_MIN = 50 * SERIES_MIN
# The names of the tasks.
SCRAPE = "http"
EXPORT = "otlp"
HOLD_SECONDS_MAX = 0.005
COMMIT_AT_ONCE = 250
SLICES_MIN = 50


class Holds:
    """The longest time for which scrapes and exports held the node's event loop, in the processor's
    time: what other processes of the machine take away does not count."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.slices = 0

    @contextmanager
    def measured(self, monkeypatch: pytest.MonkeyPatch, thread: int) -> Iterator[None]:
        plain: Any = asyncio.Handle._run

        def run(handle: Any) -> None:
            task = getattr(handle._callback, "__self__", None)
            is_reading = isinstance(task, asyncio.Task) and task.get_name() in (SCRAPE, EXPORT)
            if threading.get_ident() != thread or not is_reading:
                plain(handle)
                return
            started = time.thread_time()
            plain(handle)
            self.longest = max(self.longest, time.thread_time() - started)
            self.slices += 1

        with monkeypatch.context() as patch:
            patch.setattr(asyncio.Handle, "_run", run)
            yield


@contextmanager
def load(bootstrap: str) -> Iterator[None]:
    """A producer that does not rest."""
    stopping = threading.Event()

    def produce() -> None:
        producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 1})
        for number in count():
            if stopping.is_set():
                break
            producer.produce("orders", b"x" * 100, partition=number % PARTITIONS)
            producer.poll(0)
            if len(producer) > 500:
                producer.flush()
        producer.flush()

    thread = threading.Thread(target=produce)
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


def commit_everything(bootstrap: str) -> None:
    for group in range(GROUPS):
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"group-{group}"})
        for first in range(0, PARTITIONS, COMMIT_AT_ONCE):
            offsets = [
                TopicPartition("orders", index, 0) for index in range(first, first + COMMIT_AT_ONCE)
            ]
            consumer.commit(offsets=offsets, asynchronous=False)
        consumer.close()


def test_neither_a_scrape_nor_an_export_of_50_000_series_holds_the_loop_for_5_ms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"ottla.metrics.listener": "0", "ottla.metrics.otlp.interval.ms": "1000"}
    with (
        OtlpCollector() as collector,
        Cluster(
            properties=settings | {"ottla.metrics.otlp.endpoint": collector.endpoint}
        ) as cluster,
    ):
        cluster.create_topic("orders", partitions=PARTITIONS)
        commit_everything(cluster.bootstrap)
        (address,) = cluster.metrics_addresses
        threads: list[int] = []
        cluster.call_in_loop(lambda: threads.append(threading.get_ident()))
        # As a node does when it has started, and with it all that other tests have left.
        gc.collect()
        gc.freeze()
        holds = Holds()
        with load(cluster.bootstrap), holds.measured(monkeypatch, threads[0]):
            scrape = Scrape.of(address)
            collector.clear()
            wait_until(lambda: collector.bytes > BYTES_MIN, "everything is exported")
        gc.unfreeze()
    assert scrape.series_count >= SERIES_MIN
    assert scrape.value("ottla_topic_received_records_total", topic="orders") > 0
    longest_ms = holds.longest * 1_000
    print(f"{scrape.series_count} series in {holds.slices} slices, the longest {longest_ms:.2f} ms")
    assert holds.slices > SLICES_MIN
    assert holds.longest < HOLD_SECONDS_MAX
