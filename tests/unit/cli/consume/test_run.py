"""Consuming, with a client that does as the test says."""

from __future__ import annotations

import asyncio
import io

from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.run import ConsumeRequest, Consumption, Span
from ottla.cli.consume.start_position import BEGINNING
from ottla.client.records import ConsumedRecord
from ottla.model import TopicPartition
from ottla.wire.records.header import TimestampType


class FakeConsumer:
    """Gives what the test put in, one after the other. A position moves behind the record, or to
    the place of a mark: a record without a value."""

    def __init__(self, *records: ConsumedRecord) -> None:
        self.positions: dict[int, int] = {}
        self.paused: list[int] = []
        self._records = list(records)

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.positions = dict.fromkeys((name.partition for name in partitions), -1)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.positions[partition.partition] = offset

    def pause(self, partitions: list[TopicPartition]) -> None:
        self.paused += (partition.partition for partition in partitions)

    async def position(self, partition: TopicPartition) -> int:
        return self.positions[partition.partition]

    async def poll(self) -> list[ConsumedRecord]:
        record = self._records.pop(0)
        self.positions[record.partition] = record.offset + 1
        return [] if record.value is None else [record]

    @property
    def is_empty(self) -> bool:
        return not self._records


def record(offset: int, partition: int = 0) -> ConsumedRecord:
    value = b"%d" % offset
    return ConsumedRecord("orders", partition, offset, 0, TimestampType.CREATE_TIME, None, value)


def mark(offset: int, partition: int = 0) -> ConsumedRecord:
    """Of a transaction."""
    return record(offset, partition)._replace(value=None)


def consume(
    consumer: FakeConsumer,
    spans: dict[int, Span],
    *,
    follow: bool = False,
    records_max: int | None = None,
) -> tuple[Consumption, list[bytes]]:
    """Runs until it is done or nothing more comes; gives the values that were written."""
    request = ConsumeRequest("orders", (), BEGINNING, follow=follow, records_max=records_max)
    consumption = Consumption(consumer, request, spans)  # type: ignore[arg-type]
    stream = io.BytesIO()
    output = RecordOutput(stream, lambda record: (record.value or b"") + b"\n")

    async def read() -> None:
        await consumption.begin()
        while not consumption.is_done and not consumer.is_empty:
            consumption.take(await consumer.poll(), output)
            await consumption.flushed()

    asyncio.run(read())
    output.flush()
    return consumption, stream.getvalue().split()


def test_it_stops_where_the_partitions_ended() -> None:
    consumer = FakeConsumer(record(5), record(6, 1), record(6), record(7), record(7, 1))
    spans = {0: Span(5, 7), 1: Span(6, 8), 2: Span(3, 3)}
    consumption, values = consume(consumer, spans)
    assert consumption.is_done
    assert values == [b"5", b"6", b"6", b"7"]
    assert consumer.positions.keys() == {0, 1}
    assert consumer.paused == [0, 1]


def test_marks_of_transactions_at_the_end_do_not_keep_it_waiting() -> None:
    consumption, values = consume(FakeConsumer(record(0), mark(1)), {0: Span(0, 2)})
    assert consumption.is_done
    assert values == [b"0"]


def test_a_mark_before_the_end_is_not_the_end() -> None:
    consumption, values = consume(FakeConsumer(record(0), mark(1)), {0: Span(0, 3)})
    assert not consumption.is_done
    assert values == [b"0"]


def test_nothing_to_read_is_done_at_once() -> None:
    consumption, values = consume(FakeConsumer(), {0: Span(4, 4)})
    assert consumption.is_done
    assert values == []


def test_it_stops_after_enough_records() -> None:
    consumer = FakeConsumer(*map(record, range(10)))
    consumption, values = consume(consumer, {0: Span(0, 10)}, records_max=3)
    assert consumption.is_done
    assert values == [b"0", b"1", b"2"]
    assert consumption.records_expected == 3


def test_following_goes_on_past_the_end() -> None:
    consumer = FakeConsumer(record(0), mark(1), record(2))
    consumption, values = consume(consumer, {0: Span(0, 1)}, follow=True)
    assert not consumption.is_done
    assert values == [b"0", b"2"]
    assert consumption.records_expected is None
