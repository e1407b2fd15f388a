"""Measures latencies: from the sending of a record to its acknowledgement and to its consumption.

Records are sent at an even rate. One event loop sends and receives, so that the times have no
delays between threads of this command. Each record's value begins with the time of its sending.
"""

from __future__ import annotations

import asyncio
from struct import Struct
from typing import Final, NamedTuple

from ottla.cli.bench.load import BenchLoad, Latency, make_values, summarise_latencies
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.client.consuming.consumer import Consumer
from ottla.client.producing.batch import Delivery
from ottla.client.producing.producer import Producer
from ottla.runtime.clock import Clock

WAIT_S: Final = 0.1
STRAGGLERS_S: Final = 10.0

_SENT_AT: Final = Struct(">d")


class Latencies(NamedTuple):
    acknowledged: Latency
    consumed: Latency


class LatencyTest:
    """Runs once. The consumer must be assigned to all partitions, at their ends."""

    def __init__(
        self,
        producer: Producer,
        consumer: Consumer,
        topic: str,
        watch: ConnectionWatch,
        clock: Clock,
    ) -> None:
        self._producer = producer
        self._consumer = consumer
        self._topic = topic
        self._watch = watch
        self._clock = clock
        self._acknowledged_s: list[float] = []
        self._consumed_s: list[float] = []

    async def run(self, load: BenchLoad, progress: RecordProgress) -> Latencies:
        total = max(1, round(load.rate * load.seconds))
        deadline = self._clock.monotonic() + load.seconds + STRAGGLERS_S
        with doing(f"produce to {self._topic} and read it"):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send_all(load, total, tasks))
                tasks.create_task(self._receive_all(load, total, deadline, progress))
        if len(self._consumed_s) < total or len(self._acknowledged_s) < total:
            raise CommandError(
                f"At {load.rate:,} records/s, only {len(self._consumed_s):,} of {total:,} records "
                f"were consumed within {load.seconds + STRAGGLERS_S:.0f} s.",
                "Choose a lower --rate.",
                exit_code=ExitCode.REFUSED,
            )
        return Latencies(
            summarise_latencies(self._acknowledged_s), summarise_latencies(self._consumed_s)
        )

    async def _send_all(self, load: BenchLoad, total: int, tasks: asyncio.TaskGroup) -> None:
        padding = make_values(load.value_bytes)[0][_SENT_AT.size :]
        started_at = self._clock.monotonic()
        for sent in range(total):
            delay = started_at + sent / load.rate - self._clock.monotonic()
            if delay > 0:
                await self._clock.sleep(delay)
            sent_at = self._clock.monotonic()
            delivery = await self._producer.send(self._topic, _SENT_AT.pack(sent_at) + padding)
            tasks.create_task(self._wait_acknowledged(delivery, sent_at))

    async def _wait_acknowledged(self, delivery: Delivery, sent_at: float) -> None:
        await delivery
        self._acknowledged_s.append(self._clock.monotonic() - sent_at)

    async def _receive_all(
        self, load: BenchLoad, total: int, deadline: float, progress: RecordProgress
    ) -> None:
        while len(self._consumed_s) < total and self._clock.monotonic() < deadline:
            records = await self._consumer.poll(WAIT_S)
            await self._watch.check(has_received=bool(records))
            now = self._clock.monotonic()
            for record in records:
                (sent_at,) = _SENT_AT.unpack_from(record.value or b"")
                self._consumed_s.append(now - sent_at)
            progress.update(
                records=len(self._consumed_s),
                size_in_bytes=len(self._consumed_s) * load.value_bytes,
                done=len(self._consumed_s),
                total=total,
            )
