"""Consuming, with a client that does as the test says."""

import io

import pytest
from confluent_kafka import KafkaError, Message, TopicPartition

from ottla.cli.consume.loop import receive
from ottla.cli.consume.output import RecordOutput
from ottla.cli.consume.run import ConsumeRequest, Consumption, Span
from ottla.cli.consume.start_position import BEGINNING
from ottla.cli.exit_codes import CommandError


class FakeConsumer:
    """Gives what the test put in, in the order of its partitions."""

    def __init__(self, *messages: Message) -> None:
        self.assigned: list[TopicPartition] = []
        self.paused: list[int] = []
        self._messages = list(messages)

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.assigned = partitions

    def pause(self, partitions: list[TopicPartition]) -> None:
        self.paused += (partition.partition for partition in partitions)

    def poll(self, timeout: float) -> Message | None:
        return self._messages.pop(0) if self._messages else None

    def consume(self, count: int, timeout: float) -> list[Message]:
        taken, self._messages = self._messages[:count], self._messages[count:]
        return taken


def record(offset: int, partition: int = 0) -> Message:
    return Message(topic="orders", partition=partition, offset=offset, value=b"%d" % offset)


def event(code: int, offset: int, partition: int = 0) -> Message:
    error = KafkaError(code)
    return Message(topic="orders", partition=partition, offset=offset, error=error)


def end(offset: int, partition: int = 0) -> Message:
    return event(KafkaError._PARTITION_EOF, offset, partition)


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
    output = RecordOutput(stream, lambda message: (message.value() or b"") + b"\n")
    consumption.begin()
    while not consumption.is_done and (messages := receive(consumer)):  # type: ignore[arg-type]
        consumption.take(messages, output)
    output.flush()
    return consumption, stream.getvalue().split()


def test_it_stops_where_the_partitions_ended() -> None:
    consumer = FakeConsumer(record(5), record(6, 1), record(6), record(7), record(7, 1))
    spans = {0: Span(5, 7), 1: Span(6, 8), 2: Span(3, 3)}
    consumption, values = consume(consumer, spans)
    assert consumption.is_done
    assert values == [b"5", b"6", b"6", b"7"]
    assert [(found.partition, found.offset) for found in consumer.assigned] == [(0, 5), (1, 6)]
    assert consumer.paused == [0, 1]


def test_marks_of_transactions_at_the_end_do_not_keep_it_waiting() -> None:
    consumption, values = consume(FakeConsumer(record(0), end(2)), {0: Span(0, 2)})
    assert consumption.is_done
    assert values == [b"0"]


def test_an_end_that_comes_too_early_is_none() -> None:
    consumption, values = consume(FakeConsumer(record(0), end(1)), {0: Span(0, 3)})
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
    consumer = FakeConsumer(record(0), end(1), record(1), end(2))
    consumption, values = consume(consumer, {0: Span(0, 1)}, follow=True)
    assert not consumption.is_done
    assert values == [b"0", b"1"]
    assert consumption.records_expected is None


def test_an_error_of_a_partition_is_reported() -> None:
    consumer = FakeConsumer(event(KafkaError.TOPIC_AUTHORIZATION_FAILED, 0))
    with pytest.raises(CommandError, match="Cannot read orders-0: Topic authorization failed"):
        consume(consumer, {0: Span(0, 1)})
