"""Producing, with a client that does as the test says."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ottla.cli.display.terminal import Terminal
from ottla.cli.exit_codes import CommandError, ExitCode
from ottla.cli.produce.input import NewRecord
from ottla.cli.produce.input_source import InputSource
from ottla.cli.produce.run import RECORDS_PER_LOOK, run_produce
from ottla.client.administration.requests import node_error
from ottla.client.errors import IllegalStateError, TimedOutError
from ottla.client.records import RecordMetadata
from ottla.model import ErrorCode
from ottla.simulation.seams.clock import SimulatedClock
from tests.support.captured_terminal import captured_terminal, complained, said


class FakeDelivery:
    def __init__(self, written: RecordMetadata, *, is_bad: bool) -> None:
        self.is_bad = is_bad
        self.is_done = False
        self._written = written

    def done(self) -> bool:
        return self.is_done

    def result(self) -> RecordMetadata:
        if self.is_bad:
            raise node_error(ErrorCode.INVALID_RECORD)
        return self._written


class FakeProducer:
    """Acknowledges at once what begins with `bad` or `now`, and the rest when it is flushed, which
    takes `flushes` calls. Values that begin with `bad` fail; `refuse` is raised at once."""

    def __init__(self, *, flushes: int = 1) -> None:
        self.sent: list[bytes | None] = []
        self.closed_after: list[float | None] = []
        self._flushes = flushes
        self._deliveries: list[FakeDelivery] = []
        self._offsets = {0: 100, 1: 0}

    def send(
        self, topic: str, value: bytes, *, partition: int | None, **_others: Any
    ) -> FakeDelivery:
        if value == b"refuse":
            raise IllegalStateError("partition 7 does not exist")
        self.sent.append(value)
        number = partition or 0
        written = RecordMetadata(topic, number, self._offsets[number], 0)
        self._offsets[number] += 1
        delivery = FakeDelivery(written, is_bad=value.startswith(b"bad"))
        delivery.is_done = value.startswith((b"bad", b"now"))
        self._deliveries.append(delivery)
        return delivery

    def flush(self, *, timeout: float) -> None:
        self._flushes -= 1
        if self._flushes > 0:
            raise TimedOutError("flushing")
        for delivery in self._deliveries:
            delivery.is_done = True

    def close(self, *, timeout: float | None = None) -> None:
        self.closed_after.append(timeout)


def produce(
    producer: FakeProducer, records: Iterator[NewRecord], *, as_json: bool = False
) -> Terminal:
    terminal = captured_terminal()
    run_produce(
        producer,  # type: ignore[arg-type]
        terminal,
        SimulatedClock(),
        "orders",
        records,
        InputSource(io.BytesIO()),
        as_json=as_json,
    )
    return terminal


def records_of(*values: bytes) -> Iterator[NewRecord]:
    return (NewRecord(value) for value in values)


def test_summary_has_what_each_partition_took() -> None:
    records = iter([NewRecord(b"a"), NewRecord(b"bc", partition=1), NewRecord(b"d", partition=1)])
    lines = said(produce(FakeProducer(), records)).splitlines()
    assert lines[0].startswith("3 records (4 bytes) to orders in ")
    assert [line.split() for line in lines[2:]] == [["0", "1", "100", "100"], ["1", "2", "0", "1"]]


def test_summary_as_json() -> None:
    terminal = produce(FakeProducer(), records_of(b"a", b"b"), as_json=True)
    assert json.loads(said(terminal)) == {
        "topic": "orders",
        "records": 2,
        "bytes": 2,
        "seconds": 0.0,
        "partitions": [{"partition": 0, "records": 2, "first_offset": 100, "last_offset": 101}],
    }


def test_all_deliveries_are_waited_for() -> None:
    terminal = produce(FakeProducer(flushes=3), records_of(b"a", b"b"))
    assert "2 records" in said(terminal)


def test_nothing_is_sent_after_a_failure() -> None:
    producer = FakeProducer()
    values = (b"bad", *([b"fine"] * RECORDS_PER_LOOK * 3))
    with pytest.raises(CommandError, match="Cannot produce to orders: ") as raised:
        produce(producer, records_of(*values))
    assert raised.value.exit_code == ExitCode.REFUSED
    assert len(producer.sent) == RECORDS_PER_LOOK
    assert producer.closed_after[0] == 0


def test_a_record_that_the_client_refuses_is_a_failure_too() -> None:
    producer = FakeProducer()
    with pytest.raises(CommandError, match="partition 7 does not exist"):
        produce(producer, records_of(b"fine", b"refuse", b"never"))
    assert producer.sent == [b"fine"]


def test_what_came_before_a_bad_line_is_sent_and_summed_up() -> None:
    def records() -> Iterator[NewRecord]:
        yield NewRecord(b"fine")
        raise CommandError("Line 2: no.", exit_code=ExitCode.USAGE)

    producer = FakeProducer()
    with pytest.raises(CommandError, match="Line 2"):
        produce(producer, records())
    assert producer.sent == [b"fine"]


def test_empty_input_is_mentioned() -> None:
    terminal = produce(FakeProducer(), records_of())
    assert said(terminal) == ""
    assert "nothing to produce" in complained(terminal)
