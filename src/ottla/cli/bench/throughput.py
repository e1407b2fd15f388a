"""Measures throughput: how many records per second can be produced and consumed."""

from __future__ import annotations

from itertools import cycle
from typing import Final

from ottla.cli.bench.load import BenchLoad, Throughput, make_values
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.display.record_progress import RecordProgress
from ottla.client.consuming.consumer import Consumer
from ottla.client.producing.producer import Producer
from ottla.runtime.clock import Clock

RECORDS_PER_LOOK: Final = 1_000
WAIT_S: Final = 0.1
_ACKNOWLEDGED: Final = "record-send-total"


async def warm_up(producer: Producer, topic: str) -> None:
    """Produces a record, so that connections are open and the topic's metadata is known."""
    with doing(f"produce to {topic}"):
        await producer.send_and_wait(topic, b"warm-up")


class ProduceTest:
    """Sends until the time is up, then waits for the last acknowledgement."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic

    async def run(self, load: BenchLoad, clock: Clock, progress: RecordProgress) -> Throughput:
        values = cycle(make_values(load.value_bytes))
        producer = self._producer
        before = producer.metrics()[_ACKNOWLEDGED]
        started_at = clock.monotonic()
        sent, elapsed = 0, 0.0
        with doing(f"produce to {self._topic}"):
            while elapsed < load.seconds:
                for _ in range(RECORDS_PER_LOOK):
                    last = await producer.send(self._topic, next(values))
                sent += RECORDS_PER_LOOK
                elapsed = clock.monotonic() - started_at
                acknowledged = int(producer.metrics()[_ACKNOWLEDGED] - before)
                progress.update(
                    records=acknowledged,
                    size_in_bytes=acknowledged * load.value_bytes,
                    done=elapsed,
                    total=load.seconds,
                )
                if last.done():
                    # Raises the error of a record that was refused.
                    last.result()
            await producer.flush()
            last.result()
        return Throughput(sent, sent * load.value_bytes, clock.monotonic() - started_at)


class ConsumeTest:
    """Reads from the consumer's positions until it has `records` records or the time is up."""

    def __init__(self, consumer: Consumer, watch: ConnectionWatch) -> None:
        self._consumer = consumer
        self._watch = watch

    async def run(
        self, load: BenchLoad, records: int, clock: Clock, progress: RecordProgress
    ) -> Throughput:
        read, size_in_bytes, elapsed = 0, 0, 0.0
        started_at = clock.monotonic()
        while read < records and elapsed < load.seconds:
            with doing("read what was produced"):
                found = await self._consumer.poll(WAIT_S, RECORDS_PER_LOOK)
            await self._watch.check(has_received=bool(found))
            read += len(found)
            size_in_bytes += sum(len(record.value or b"") for record in found)
            elapsed = clock.monotonic() - started_at
            progress.update(records=read, size_in_bytes=size_in_bytes, done=read, total=records)
        return Throughput(read, size_in_bytes, elapsed)
