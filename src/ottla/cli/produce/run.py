"""`ottla produce` at work: sends records, follows what becomes of them, sums up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ottla.cli.connection.admin_connection import with_admin
from ottla.cli.connection.cluster_access import resolve
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.connection.cluster_options import ClusterOptions
from ottla.cli.connection.data_clients import new_sync_producer
from ottla.cli.connection.topic_lookup import existing_partitions
from ottla.cli.display.cells import count, number, size
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal, new_table
from ottla.cli.produce.deliveries import Deliveries
from ottla.cli.produce.input import NewRecord
from ottla.cli.produce.input_source import InputSource
from ottla.client.errors import ClientError, TimedOutError
from ottla.client.sync.producer import Producer
from ottla.runtime.clock import Clock

RECORDS_PER_LOOK: Final = 500
WAIT_S: Final = 0.2
# From here on people want to know the rate, too.
LONG_S: Final = 1.0


class Production:
    """Sends records to one topic, and stops at the first that fails."""

    def __init__(self, producer: Producer, topic: str, source: InputSource | None) -> None:
        self.deliveries = Deliveries()
        self.sent = 0
        self._producer = producer
        self._topic = topic
        self._source = source

    def run(self, records: Iterable[NewRecord], progress: RecordProgress) -> None:
        """Whatever ends the records, be it an error, those before it are sent."""
        is_live = self._source is not None and self._source.is_live
        try:
            for record in records:
                self._send(record)
                if is_live or self.sent % RECORDS_PER_LOOK == 0:
                    self._show(progress)
                if self.deliveries.first_error is not None:
                    # What was not sent yet is not sent any more.
                    self._producer.close(timeout=0)
                    break
        finally:
            self._finish(progress)

    def _finish(self, progress: RecordProgress) -> None:
        while True:
            try:
                self._producer.flush(timeout=WAIT_S)
            except TimedOutError:
                self._show(progress)
            else:
                break
        self._show(progress)
        self._producer.close()

    def _send(self, record: NewRecord) -> None:
        try:
            delivery = self._producer.send(
                self._topic,
                record.value,
                key=record.key,
                headers=record.headers,
                partition=record.partition,
                timestamp=record.timestamp_ms,
            )
        except ClientError as error:
            self.deliveries.fail(error)
            return
        self.sent += 1
        self.deliveries.add(delivery, len(record.value or b""))

    def _show(self, progress: RecordProgress) -> None:
        self.deliveries.collect()
        progress.update(
            records=self.deliveries.records,
            size_in_bytes=self.deliveries.size_in_bytes,
            done=0 if self._source is None else self._source.position,
            total=None if self._source is None else self._source.length,
        )


def open_producer(
    options: ClusterOptions,
    terminal: Terminal,
    topic: str,
    partition: int | None,
    configs: Mapping[str, str],
) -> Producer:
    """Checks that the topic and the partition exist. Raises CommandError."""
    chosen = () if partition is None else (partition,)
    with_admin(options, terminal, lambda admin: existing_partitions(admin, topic, chosen))
    return new_sync_producer(resolve(options), configs)


def run_produce(
    producer: Producer,
    terminal: Terminal,
    clock: Clock,
    topic: str,
    records: Iterable[NewRecord],
    source: InputSource | None,
    *,
    as_json: bool,
) -> None:
    started_at = clock.monotonic()
    production = Production(producer, topic, source)
    deliveries = production.deliveries
    try:
        with RecordProgress(terminal.stderr, clock, title=topic) as progress:
            production.run(records, progress)
    finally:
        seconds = clock.monotonic() - started_at
        if as_json:
            terminal.print_json(summary_json(topic, deliveries, seconds))
        elif deliveries.records:
            print_summary(terminal, topic, deliveries, seconds)
    if deliveries.first_error is not None:
        raise refused(f"produce to {topic}", deliveries.first_error)
    if not production.sent:
        terminal.notice("There was nothing to produce: the input is empty.")


def summary_json(topic: str, deliveries: Deliveries, seconds: float) -> dict[str, Any]:
    return {
        "topic": topic,
        "records": deliveries.records,
        "bytes": deliveries.size_in_bytes,
        "seconds": round(seconds, 3),
        "partitions": [
            {
                "partition": partition,
                "records": tally.records,
                "first_offset": tally.first_offset,
                "last_offset": tally.last_offset,
            }
            for partition, tally in sorted(deliveries.partitions.items())
        ],
    }


def print_summary(terminal: Terminal, topic: str, deliveries: Deliveries, seconds: float) -> None:
    records, size_in_bytes = deliveries.records, deliveries.size_in_bytes
    line = f"{count(records, 'record')} ({size(size_in_bytes)}) to {topic} in {seconds:.2f} s"
    if seconds >= LONG_S:
        line += f": {records / seconds:,.0f} records/s, {size(size_in_bytes / seconds)}/s"
    terminal.stdout.print(line, markup=False)
    titles = ("partition", "records", "first offset", "last offset")
    table = new_table(*titles, right=titles)
    for partition, tally in sorted(deliveries.partitions.items()):
        offsets = (number(tally.first_offset), number(tally.last_offset))
        table.add_row(str(partition), f"{tally.records:,}", *offsets)
    terminal.stdout.print(table)
