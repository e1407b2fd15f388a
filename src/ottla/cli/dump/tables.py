"""A dump as tables, one file after the other."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from ottla.cli.display import cells
from ottla.cli.dump import dump_cells
from ottla.cli.dump.growing_table import GrowingTable
from ottla.cli.dump.statistics import print_statistics
from ottla.dump.files import KnownFile
from ottla.dump.rows import BatchRow, Problem, Remark, Row, Verdict
from ottla.dump.statistics import LogStatistics
from ottla.wire.records.compression import Codec


class TableOutput:
    """See `DumpOutput`. In a deep dump a batch is a heading above its records. Without
    `has_headings` files have no headings."""

    def __init__(self, stdout: Console, stderr: Console, *, deep: bool, has_headings: bool) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._deep = deep
        self._has_headings = has_headings
        self._path = ""
        self._heading: Text | None = None
        self._table = GrowingTable(stdout)

    def begin_file(self, file: KnownFile, size_in_bytes: int) -> None:
        self._path = file.path
        self._table = GrowingTable(self._stdout)
        if self._has_headings:
            self._heading = Text(file.path, style="bold")
            size = cells.count(size_in_bytes, "byte")
            self._heading.append(f"  {file.kind}, {size}", style="not bold dim")

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
            self._table.append(row)
            if self._table.is_full:
                self._flush()

    def end_file(self) -> None:
        self._flush()
        if self._heading is not None:
            self._maybe_print_heading()
            self._stdout.print("empty", style="dim")
        if self._has_headings:
            self._stdout.print()

    def statistics(self, path: str, statistics: LogStatistics) -> None:
        print_statistics(self._stdout, path, statistics)

    def message(self, text: str) -> None:
        self._say(text, style="red")

    def _say(self, text: str, *, style: str) -> None:
        self._flush()
        self._maybe_print_heading()
        self._stdout.file.flush()
        self._stderr.print(Text(text, style=style), soft_wrap=True)

    def _print_verdict(self, verdict: Verdict) -> None:
        checked = [
            cells.count(verdict.batches, "batch", "batches"),
            cells.count(verdict.records, "record"),
            cells.count(verdict.entries, "entry", "entries"),
        ]
        if verdict.problems:
            line = Text(cells.count(verdict.problems, "problem"), style="bold red")
        else:
            line = Text("sound", style="green")
        line.append(f"  {self._path}", style="default not bold")
        counts = ", ".join(part for part in checked if not part.startswith("0 "))
        line.append(f"  {counts}", style="dim not bold")
        self._stdout.print(line, soft_wrap=True)

    def _maybe_print_heading(self) -> None:
        if self._heading is not None:
            self._stdout.print(self._heading, soft_wrap=True)
            self._heading = None

    def _flush(self) -> None:
        if self._table.has_pending:
            self._maybe_print_heading()
            self._table.flush()


def _batch_line(row: BatchRow) -> Text:
    """A batch as one line above its records."""
    parts = [
        f"batch {dump_cells.span(row.base_offset, row.last_offset)}",
        cells.count(row.record_count, "record"),
        f"at byte {row.position}",
        cells.count(row.size_in_bytes, "byte"),
        f"epoch {cells.number(row.leader_epoch)}",
    ]
    if row.codec != Codec.NONE.name.lower():
        parts.append(row.codec)
    if row.producer_id != -1:
        parts.append(f"producer {dump_cells.producer(row)}")
    if row.base_sequence != -1:
        parts.append(f"sequences {dump_cells.span(row.base_sequence, row.last_sequence)}")
    if flags := dump_cells.flags(row):
        parts.append(flags)
    return Text(" · ".join(parts), style="yellow")
