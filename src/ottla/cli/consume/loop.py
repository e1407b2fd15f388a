"""The loop of `ottla consume`: passes records from a consumer to the output until it is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.consume.output import RecordOutput
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal
from ottla.client.consuming.consumer import Consumer
from ottla.client.records import ConsumedRecord
from ottla.runtime.clock import Clock

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

    async def begin(self) -> None: ...

    def take(self, records: Sequence[ConsumedRecord], output: RecordOutput) -> None: ...

    async def flushed(self) -> None:
        """Called when all records taken are written."""


async def read_until_done(
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
        await reading.begin()
        while not reading.is_done:
            records = await consumer.poll(POLL_S)
            await watch.check(has_received=bool(records))
            reading.take(records, output)
            output.flush()
            await reading.flushed()
            progress.update(
                records=reading.records,
                size_in_bytes=reading.size_in_bytes,
                done=reading.records,
                total=reading.records_expected,
            )
