"""The loop of `ottla consume`: passes records from a consumer to the output until it is done."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol, TypeVar

from ottla.cli.connection.connection_watch import ConnectionWatch
from ottla.cli.consume.output import RecordOutput
from ottla.cli.display.record_progress import RecordProgress
from ottla.cli.display.terminal import Terminal
from ottla.runtime.clock import Clock

POLL_S: Final = 0.5
_R = TypeVar("_R")
_RIn = TypeVar("_RIn", contravariant=True)
_ROut = TypeVar("_ROut", covariant=True)


class RecordSource(Protocol[_ROut]):
    """A consumer."""

    async def poll(self, seconds: float, /) -> Sequence[_ROut]: ...


class TopicReading(Protocol[_RIn]):
    """Decides where to begin, which records to write and when to stop."""

    records: int
    size_in_bytes: int

    @property
    def is_done(self) -> bool: ...

    @property
    def records_expected(self) -> int | None:
        """The maximum number of records; None if there is no limit."""

    async def begin(self) -> None: ...

    def take(self, records: Sequence[_RIn], output: RecordOutput) -> None: ...

    async def flushed(self) -> None:
        """Called when all records taken are written."""


async def read_until_done(
    reading: TopicReading[_R],
    consumer: RecordSource[_R],
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


@contextmanager
def interruption_stops(stop: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """The first Ctrl-C stops the reading after complete records; the second interrupts at once."""
    was_interrupted = False

    def on_interrupt(_number: int, _frame: object) -> None:
        nonlocal was_interrupted
        was_interrupted = True
        signal.signal(signal.SIGINT, before)
        stop()

    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: was_interrupted
    finally:
        signal.signal(signal.SIGINT, before)
