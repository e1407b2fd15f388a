"""A progress bar over bytes that appears only if the work takes long."""

from __future__ import annotations

from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from ottla.dump.log_rows import Watch
from ottla.runtime.clock import Clock

PATIENCE_S: Final = 1.0


class ByteProgress:
    """Counts bytes over many files. A context manager around the work on all files.

    Output to its console meanwhile appears above the bar.
    """

    def __init__(self, console: Console, clock: Clock, *, is_shown: bool) -> None:
        self.bytes_total = 0
        self._console = console
        self._clock = clock
        self._is_shown = is_shown
        self._started_at = clock.monotonic()
        self._file_start = 0
        self._file_end = 0
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def begin_file(self, size_in_bytes: int) -> Watch | None:
        """The callback for the position reached in this file; None if the bar is not shown."""
        self._file_start = self._file_end
        self._file_end += size_in_bytes
        return self._advance_to if self._is_shown else None

    def _advance_to(self, position: int) -> None:
        if self._bar is None:
            if self._clock.monotonic() - self._started_at < PATIENCE_S:
                return
            self._bar = _bar(self._console)
            self._bar.add_task("", total=self.bytes_total)
            self._bar.start()
        self._bar.update(TaskID(0), completed=self._file_start + position)


def _bar(console: Console) -> Progress:
    return Progress(
        BarColumn(bar_width=40),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
