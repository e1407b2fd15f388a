"""A dump as tables that appear while the files are still being read.

A table's rows are printed a screenful or two at a time, under columns that only ever grow wider, so
that a log of any length needs no memory and still lines up.
"""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ottla.cli import dump_cells as cells
from ottla.cli.dump_columns import COLUMNS, KEY, Column
from ottla.cli.dump_statistics import print_statistics
from ottla.dump.files import KnownFile
from ottla.dump.rows import BatchRow, Problem, RecordRow, Remark, Row, Verdict
from ottla.dump.statistics import LogStatistics

ROWS_AT_ONCE: Final = 100


class TableOutput:
    """See `Output`. In a deep dump a batch is a heading over its records."""

    def __init__(self, stdout: Console, stderr: Console, *, deep: bool) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._deep = deep
        self._path = ""
        self._heading: Text | None = None
        self._pending: list[Row] = []
        self._columns: tuple[Column, ...] = ()
        self._widths: dict[str, int] = {}

    def begin_file(self, file: KnownFile, size_in_bytes: int) -> None:
        self._path = file.path
        self._heading = Text(file.path, style="bold")
        self._heading.append(f"  {file.kind}, {size_in_bytes:,} bytes", style="not bold dim")
        self._columns = ()
        self._widths.clear()

    def row(self, row: Row) -> None:
        if isinstance(row, Problem):
            self.message(row.reason)
        elif isinstance(row, Remark):
            self._say(row.text, style="yellow")
        elif isinstance(row, Verdict):
            self._print_verdict(row)
        elif self._deep and isinstance(row, BatchRow):
            self._flush()
            self._maybe_print_heading()
            self._stdout.print(_batch_line(row))
        else:
            self._pending.append(row)
            if len(self._pending) == ROWS_AT_ONCE:
                self._flush()

    def end_file(self) -> None:
        self._flush()
        if self._heading is not None:
            self._maybe_print_heading()
            self._stdout.print("nothing in it", style="dim")
        self._stdout.print()

    def statistics(self, path: str, statistics: LogStatistics) -> None:
        print_statistics(self._stdout, path, statistics)

    def message(self, text: str) -> None:
        self._say(text, style="red")

    def _say(self, text: str, *, style: str) -> None:
        self._flush()
        self._stdout.file.flush()
        self._stderr.print(Text(text, style=style), soft_wrap=True)

    def _print_verdict(self, verdict: Verdict) -> None:
        self._heading = None
        counts = [
            f"{count:,} {name}"
            for name, count in verdict._asdict().items()
            if count and name != "problems"
        ]
        if verdict.problems:
            line = Text(f"{verdict.problems:,} problems", style="bold red")
        else:
            line = Text("sound", style="green")
        line.append(f"  {self._path}", style="default not bold")
        line.append(f"  {', '.join(counts)}", style="dim not bold")
        self._stdout.print(line, soft_wrap=True)

    def _maybe_print_heading(self) -> None:
        if self._heading is not None:
            self._stdout.print(self._heading, soft_wrap=True)
            self._heading = None

    def _flush(self) -> None:
        rows, self._pending = self._pending, []
        if not rows:
            return
        self._maybe_print_heading()
        columns = self._columns_for(rows)
        filled = [[column.cell(row) for column in columns] for row in rows]
        for place, column in enumerate(columns):
            needed = max(len(cells_of_row[place]) for cells_of_row in filled)
            self._widths[column.title] = max(self._widths.get(column.title, 0), needed)
        table = self._empty_table(columns, has_titles=columns != self._columns)
        for cells_of_row in filled:
            table.add_row(*cells_of_row)
        self._stdout.print(table)
        self._columns = columns

    def _columns_for(self, rows: list[Row]) -> tuple[Column, ...]:
        """All columns of the rows' type; that of keys once there is one."""
        columns = COLUMNS[type(rows[0])]
        if KEY not in columns or KEY in self._columns:
            return columns
        has_keys = any(isinstance(row, RecordRow) and cells.has_key(row) for row in rows)
        return columns if has_keys else tuple(column for column in columns if column is not KEY)

    def _empty_table(self, columns: tuple[Column, ...], *, has_titles: bool) -> Table:
        expands = any(column.ratio for column in columns)
        table = Table(
            box=None,
            padding=(0, 2, 0, 0),
            show_header=has_titles,
            expand=expands,
            header_style="bold dim",
        )
        for column in columns:
            table.add_column(
                column.title,
                justify=column.justify,
                no_wrap=not column.wraps,
                min_width=None if column.wraps else self._widths[column.title],
                ratio=column.ratio,
                overflow="fold",
            )
        return table


def _batch_line(row: BatchRow) -> Text:
    """A batch as one line above its records."""
    parts = [
        f"batch {cells.span(row.base_offset, row.last_offset)}",
        f"{row.record_count} records",
        f"at byte {row.position}",
        f"{row.size_in_bytes} bytes",
        row.codec,
        f"epoch {cells.number(row.leader_epoch)}",
    ]
    if row.producer_id != -1:
        sequences = cells.span(row.base_sequence, row.last_sequence)
        parts.append(f"producer {cells.producer(row)} sequences {sequences}")
    if flags := cells.flags(row):
        parts.append(flags)
    return Text(" · ".join(parts), style="yellow")
