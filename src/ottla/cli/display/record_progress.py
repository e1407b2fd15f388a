"""A progress bar over records, with their rate. It appears only if the work takes long."""

from __future__ import annotations

from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ottla.cli.display import cells
from ottla.runtime.clock import Clock

PATIENCE_S: Final = 1.0
REFRESH_S: Final = 0.1


class RecordProgress:
    """A context manager around the work on all records; at its end the bar disappears.

    `update` is cheap: it may be called for every record.
    """

    def __init__(
        self,
        console: Console,
        clock: Clock,
        *,
        title: str,
        is_shown: bool = True,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._console = console
        self._clock = clock
        self._title = title
        self._started_at = clock.monotonic()
        self._is_shown = is_shown and console.is_terminal
        self._shown_next_at = self._started_at + patience_s
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

    def update(
        self, *, records: int, size_in_bytes: int, done: float = 0.0, total: float | None = None
    ) -> None:
        """Shows the progress: `done` of `total`, in any unit, if the total is known."""
        now = self._clock.monotonic()
        if not self._is_shown or now < self._shown_next_at:
            return
        self._shown_next_at = now + REFRESH_S
        if self._bar is None:
            self._bar = self._open_bar()
        seconds = max(now - self._started_at, REFRESH_S)
        self._bar.update(
            TaskID(0),
            completed=done,
            total=total,
            amount=f"{cells.count(records, 'record')}, {cells.size(size_in_bytes)}",
            rate=f"{records / seconds:,.0f} records/s, {cells.size(size_in_bytes / seconds)}/s",
        )

    def _open_bar(self) -> Progress:
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[amount]}"),
            TextColumn("[dim]{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            console=self._console,
            transient=True,
        )
        bar.add_task(self._title, total=None, amount="", rate="")
        bar.start()
        return bar
