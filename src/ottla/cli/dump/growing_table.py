"""A table that is printed while its rows are still being read.

Rows are printed a screenful or two at a time. Columns only become wider, so a table of any length
needs little memory and its rows still align.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ottla.cli.dump import dump_cells
from ottla.cli.dump.columns import COLUMNS, DumpColumn
from ottla.dump.rows import Row

ROWS_AT_ONCE: Final = 100
# With more columns than this the gaps between them are narrow.
SPACIOUS_COLUMNS_MAX: Final = 6


class GrowingTable:
    """The rows of one file, all of one type. `flush` prints the pending rows."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._pending: list[Row] = []
        self._columns: tuple[DumpColumn, ...] = ()
        self._widths: dict[str, int] = {}

    @property
    def is_full(self) -> bool:
        return len(self._pending) >= ROWS_AT_ONCE

    @property
    def has_pending(self) -> bool:
        return bool(self._pending)

    def append(self, row: Row) -> None:
        self._pending.append(row)

    def flush(self) -> None:
        rows, self._pending = self._pending, []
        if not rows:
            return
        filled = {column: [column.cell(row) for row in rows] for column in COLUMNS[type(rows[0])]}
        columns = tuple(column for column in filled if self._is_shown(column, filled[column]))
        for column in columns:
            needed = max(len(column.title), *map(len, filled[column]))
            self._widths[column.title] = max(self._widths.get(column.title, 0), needed)
        table = self._empty_table(columns, has_titles=columns != self._columns)
        for row_cells in zip(*map(filled.__getitem__, columns), strict=True):
            table.add_row(*row_cells)
        self._console.print(table)
        self._columns = columns

    def _is_shown(self, column: DumpColumn, filled: Sequence[str | Text]) -> bool:
        """An optional column is shown once a row has a value for it, and stays."""
        if not column.is_optional or column in self._columns:
            return True
        return not all(map(dump_cells.is_nothing, filled))

    def _empty_table(self, columns: tuple[DumpColumn, ...], *, has_titles: bool) -> Table:
        table = Table(
            box=None,
            padding=(0, 2 if len(columns) <= SPACIOUS_COLUMNS_MAX else 1, 0, 0),
            show_header=has_titles,
            header_style="bold dim",
            expand=self._console.is_terminal and any(column.ratio for column in columns),
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
