"""The loop of `ottla consume`: passes records from a consumer to the output until it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from confluent_kafka import Consumer, Message

from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.consume.output import RecordOutput
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal
from ottla.runtime.clock import Clock

RECORDS_AT_ONCE: Final = 500
POLL_S: Final = 0.5


class TopicReading(Protocol):
    """Decides where to begin, which records to write and when to stop."""

    records: int
    size_in_bytes: int

    @property
    def is_done(self) -> bool: ...

    @property
    def records_expected(self) -> int | None:
        """The maximum number of records; None if there is no limit."""

    def begin(self) -> None: ...

    def take(self, messages: Sequence[Message], output: RecordOutput) -> None: ...

    def flushed(self) -> None:
        """Called when all records taken are written."""


def read_until_done(
    reading: TopicReading,
    consumer: Consumer,
    output: RecordOutput,
    terminal: Terminal,
    clock: Clock,
    watch: ConnectionWatch,
    *,
    title: str,
) -> None:
    is_shown = not terminal.stdout.is_terminal
    with RecordProgress(terminal.stderr, clock, title=title, is_shown=is_shown) as progress:
        reading.begin()
        while not reading.is_done:
            messages = receive(consumer)
            watch.check(has_received=bool(messages))
            reading.take(messages, output)
            output.flush()
            reading.flushed()
            progress.update(
                records=reading.records,
                size_in_bytes=reading.size_in_bytes,
                done=reading.records,
                total=reading.records_expected,
            )


def receive(consumer: Consumer) -> list[Message]:
    """Waits for one record, then also takes those that the client has already received."""
    first = consumer.poll(POLL_S)
    if first is None:
        return []
    return [first, *consumer.consume(RECORDS_AT_ONCE - 1, timeout=0)]
