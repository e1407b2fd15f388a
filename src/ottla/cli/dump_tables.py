"""A dump as tables that appear while the files are still being read.

A table's rows are printed a screenful or two at a time, under columns that only ever grow wider, so
that a log of any length needs no memory and still lines up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ottla.cli import dump_cells as cells
from ottla.cli.dump_statistics import print_statistics
from ottla.dump.files import KnownFile
from ottla.dump.rows import (
    BatchRow,
    PartitionOffset,
    Problem,
    ProducerRow,
    Property,
    RecordRow,
    Remark,
    Row,
    Verdict,
)
from ottla.dump.statistics import LogStatistics
from ottla.storage.epoch_cache import EpochEntry
from ottla.storage.offset_index import OffsetPosition
from ottla.storage.time_index import TimestampOffset
from ottla.storage.transaction_index import AbortedTransaction

ROWS_AT_ONCE: Final = 100


class Column(NamedTuple):
    """One column of the rows of a type. Those that may wrap give way on a narrow terminal."""

    title: str
    cell: Callable[[Any], str | Text]
    justify: Literal["left", "right"] = "right"
    wraps: bool = False


COLUMNS: Final[dict[type[Row], tuple[Column, ...]]] = {
    BatchRow: (
        Column("offsets", lambda row: cells.span(row.base_offset, row.last_offset)),
        Column("records", lambda row: str(row.record_count)),
        Column("position", lambda row: str(row.position)),
        Column("bytes", lambda row: str(row.size_in_bytes)),
        Column("codec", lambda row: row.codec, "left"),
        Column("max timestamp", lambda row: cells.moment(row.max_timestamp), "left", wraps=True),
        Column("epoch", lambda row: cells.number(row.leader_epoch)),
        Column("producer", cells.producer, "left"),
        Column("sequences", lambda row: cells.span(row.base_sequence, row.last_sequence)),
        Column("flags", cells.flags, "left", wraps=True),
    ),
    RecordRow: (
        Column("offset", lambda row: str(row.offset)),
        Column("timestamp", lambda row: cells.moment(row.timestamp), "left"),
        Column("key", cells.key, "left", wraps=True),
        Column("value", cells.value, "left", wraps=True),
    ),
    OffsetPosition: (
        Column("offset", lambda row: str(row.offset)),
        Column("position", lambda row: str(row.position)),
    ),
    TimestampOffset: (
        Column("timestamp", lambda row: str(row.timestamp)),
        Column("in UTC", lambda row: cells.moment(row.timestamp), "left"),
        Column("offset", lambda row: str(row.offset)),
    ),
    AbortedTransaction: (
        Column("producer", lambda row: str(row.producer_id)),
        Column("offsets", lambda row: cells.span(row.first_offset, row.last_offset)),
        Column("last stable offset", lambda row: str(row.last_stable_offset)),
    ),
    ProducerRow: (
        Column("producer", lambda row: f"{row.producer_id}/{row.producer_epoch}"),
        Column("last sequences", lambda row: cells.span(row.first_sequence, row.last_sequence)),
        Column("last offset", lambda row: cells.number(row.last_offset)),
        Column("last timestamp", lambda row: cells.moment(row.last_timestamp), "left"),
        Column("coordinator epoch", lambda row: cells.number(row.coordinator_epoch)),
        Column("open since", lambda row: cells.number(row.current_txn_first_offset)),
    ),
    EpochEntry: (
        Column("epoch", lambda row: str(row.epoch)),
        Column("start offset", lambda row: str(row.start_offset)),
    ),
    PartitionOffset: (
        Column("topic", lambda row: row.topic, "left"),
        Column("partition", lambda row: str(row.partition)),
        Column("offset", lambda row: str(row.offset)),
    ),
    Property: (
        Column("property", lambda row: row.name, "left"),
        Column("value", lambda row: cells.NOTHING if row.value is None else str(row.value), "left"),
    ),
}


class TableOutput:
    """See `Output`. In a deep dump a batch is a heading over its records."""

    def __init__(self, stdout: Console, stderr: Console, *, deep: bool) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._deep = deep
        self._pending: list[Row] = []
        self._widths: dict[str, int] = {}
        self._has_titles = False
        self._heading: Text | None = None

    def begin_file(self, file: KnownFile, size_in_bytes: int) -> None:
        self._widths.clear()
        self._has_titles = False
        self._heading = Text(file.path, style="bold")
        self._heading.append(f"  {file.kind}, {size_in_bytes:,} bytes", style="not bold dim")

    def row(self, row: Row) -> None:
        if isinstance(row, Problem):
            self._flush()
            self.message(row.reason)
        elif isinstance(row, Remark):
            self._flush()
            self._stderr.print(Text(row.text, style="yellow"), soft_wrap=True)
        elif isinstance(row, Verdict):
            self._print_verdict(row)
        elif self._deep and isinstance(row, BatchRow):
            self._flush()
            self._maybe_print_heading()
            self._stdout.print(_batch_heading(row))
        else:
            self._pending.append(row)
            if len(self._pending) == ROWS_AT_ONCE:
                self._flush()
