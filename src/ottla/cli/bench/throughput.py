"""Measures throughput: how many records per second can be produced and consumed."""

from __future__ import annotations

from itertools import cycle
from typing import Final

from confluent_kafka import Consumer, KafkaError, Producer

from ottla.cli.bench.load import BenchLoad, Throughput, make_values
from ottla.cli.connection.cluster_client import refused_by_client
from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.connection.deliveries import Deliveries
from ottla.cli.display.record_progress import RecordProgress
from ottla.runtime.clock import Clock

RECORDS_PER_LOOK: Final = 1_000
WAIT_S: Final = 0.1


def warm_up(producer: Producer, topic: str) -> None:
    """Produces a record, so that connections are open and the topic's metadata is known."""
    deliveries = Deliveries()
    producer.produce(topic, b"warm-up", on_delivery=deliveries.on_delivery)
    while producer.flush(WAIT_S):
        pass
    _raise_failure(deliveries, topic)


class ProduceTest:
    """Sends until the time is up, then waits for the last acknowledgement.

    `deliveries` must be the producer's callback, configured to report failures only: a callback per
    record costs more than sending the record.
    """

    def __init__(self, producer: Producer, topic: str, deliveries: Deliveries) -> None:
        self._producer = producer
        self._topic = topic
        self._deliveries = deliveries

    def run(self, load: BenchLoad, clock: Clock, progress: RecordProgress) -> Throughput:
        values = cycle(make_values(load.value_bytes))
        started_at = clock.monotonic()
        sent, elapsed = 0, 0.0
        while elapsed < load.seconds:
            sent += self._send(values)
            elapsed = clock.monotonic() - started_at
            acknowledged = max(0, sent - len(self._producer))
            progress.update(
                records=acknowledged,
                size_in_bytes=acknowledged * load.value_bytes,
                done=elapsed,
                total=load.seconds,
            )
        while self._producer.flush(WAIT_S):
            _raise_failure(self._deliveries, self._topic)
        _raise_failure(self._deliveries, self._topic)
        return Throughput(sent, sent * load.value_bytes, clock.monotonic() - started_at)

    def _send(self, values: cycle[bytes]) -> int:
        """Sends `RECORDS_PER_LOOK` records, or fewer if the client's queue is full. Returns how
        many."""
        produce, topic = self._producer.produce, self._topic
        for sent in range(RECORDS_PER_LOOK):
            try:
                produce(topic, next(values))
            except BufferError:
                self._producer.poll(WAIT_S)
                return sent
        self._producer.poll(0)
        _raise_failure(self._deliveries, topic)
        return RECORDS_PER_LOOK


class ConsumeTest:
    """Reads from the consumer's assigned positions until it has `records` records or the time is
    up."""

    def __init__(self, consumer: Consumer, watch: ConnectionWatch) -> None:
        self._consumer = consumer
        self._watch = watch

    def run(
        self, load: BenchLoad, records: int, clock: Clock, progress: RecordProgress
    ) -> Throughput:
        read, size_in_bytes, elapsed = 0, 0, 0.0
        started_at = clock.monotonic()
        while read < records and elapsed < load.seconds:
            messages = self._consumer.consume(RECORDS_PER_LOOK, timeout=WAIT_S)
            self._watch.check(has_received=bool(messages))
            for message in messages:
                error = message.error()
                if error is None:
                    read += 1
                    size_in_bytes += len(message)
                elif error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - its own naming
                    raise refused_by_client("read what was produced", error)
            elapsed = clock.monotonic() - started_at
            progress.update(records=read, size_in_bytes=size_in_bytes, done=read, total=records)
        return Throughput(read, size_in_bytes, elapsed)


def _raise_failure(deliveries: Deliveries, topic: str) -> None:
    if deliveries.first_error is not None:
        raise refused_by_client(f"produce to {topic}", deliveries.first_error)
