"""Measures latencies: from the sending of a record to its acknowledgement and to its consumption.

Records are sent at an even rate. One thread sends and receives, so that the times have no delays
between threads of this command. Each record's value begins with the time of its sending.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from confluent_kafka import Consumer, KafkaError, Message, Producer

from ottla.cli.bench.load import BenchLoad, Latency, make_values, summarise_latencies
from ottla.cli.connection.cluster_client import refused_by_client
from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.runtime.clock import Clock

# The client's timeouts are in milliseconds; a shorter one would poll without pause.
WAIT_S: Final = 0.001
STRAGGLERS_S: Final = 10.0

_SENT_AT: Final = Struct(">d")


class Latencies(NamedTuple):
    acknowledged: Latency
    consumed: Latency


class LatencyTest:
    """Runs once. The consumer must be assigned to all partitions, at their ends."""

    def __init__(
        self, producer: Producer, consumer: Consumer, topic: str, watch: ConnectionWatch
    ) -> None:
        self._producer = producer
        self._consumer = consumer
        self._topic = topic
        self._watch = watch
        self._failure: KafkaError | None = None
        self._acknowledged_s: list[float] = []
        self._consumed_s: list[float] = []

    def wait_at_end(self, partition_count: int) -> None:
        """Waits until the consumer has reached the end of each partition."""
        waiting = partition_count
        while waiting:
            message = self._consumer.poll(0.1)
            self._watch.check(has_received=message is not None)
            waiting -= message is not None and _is_end(message)

    def run(self, load: BenchLoad, clock: Clock, progress: RecordProgress) -> Latencies:
        padding = make_values(load.value_bytes)[0][_SENT_AT.size :]
        total = max(1, round(load.rate * load.seconds))
        started_at = now = clock.monotonic()
        sent = 0
        while len(self._consumed_s) < total and now < started_at + load.seconds + STRAGGLERS_S:
            while sent < total and now >= started_at + sent / load.rate:
                self._send(_SENT_AT.pack(clock.monotonic()) + padding)
                sent += 1
            self._producer.poll(0)
            if self._failure is not None:
                raise refused_by_client(f"produce to {self._topic}", self._failure)
            self._receive(clock)
            now = clock.monotonic()
            progress.update(
                records=len(self._consumed_s),
                size_in_bytes=len(self._consumed_s) * load.value_bytes,
                done=len(self._consumed_s),
                total=total,
            )
        self._producer.flush(STRAGGLERS_S)
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

    def _send(self, value: bytes) -> None:
        self._producer.produce(self._topic, value, on_delivery=self._on_delivery)

    def _receive(self, clock: Clock) -> None:
        message = self._consumer.poll(WAIT_S)
        if message is None or _is_end(message):
            return
        (sent_at,) = _SENT_AT.unpack_from(message.value() or b"")
        self._consumed_s.append(clock.monotonic() - sent_at)

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failure = error
        else:
            self._acknowledged_s.append(message.latency() or 0.0)


def _is_end(message: Message) -> bool:
    error = message.error()
    if error is None:
        return False
    if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - the client's own naming
        raise refused_by_client("read what was produced", error)
    return True
