"""The columns of each type of row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from rich.text import Text

from ottla.cli.display import cells
from ottla.cli.dump import dump_cells
from ottla.dump.rows import BatchRow, PartitionOffset, ProducerRow, Property, RecordRow, Row
from ottla.storage.epochs.epoch_cache import EpochEntry
from ottla.storage.indexes.offset_index import OffsetPosition
from ottla.storage.indexes.time_index import TimestampOffset
from ottla.storage.indexes.transaction_index import AbortedTransaction


class DumpColumn(NamedTuple):
    """A column of the rows of a type. Columns that may wrap are narrowed on a narrow terminal."""

    title: str
    cell: Callable[[Any], str | Text]
    justify: Literal["left", "right"] = "right"
    wraps: bool = False
    # Left out until a row has a value for it.
    is_optional: bool = False
    # Its share of the width that the other columns leave; None takes the width of its cells.
    ratio: int | None = None


COLUMNS: Final[dict[type[Row], tuple[DumpColumn, ...]]] = {
    BatchRow: (
        DumpColumn("offsets", lambda row: dump_cells.span(row.base_offset, row.last_offset)),
        DumpColumn("records", lambda row: str(row.record_count)),
        DumpColumn("position", lambda row: str(row.position)),
        DumpColumn("bytes", lambda row: str(row.size_in_bytes)),
        DumpColumn("codec", lambda row: row.codec, "left"),
        DumpColumn(
            "max timestamp", lambda row: cells.moment(row.max_timestamp), "left", wraps=True
        ),
        DumpColumn("epoch", lambda row: cells.number(row.leader_epoch)),
        DumpColumn("producer", dump_cells.producer, "left", is_optional=True),
        DumpColumn(
            "sequences",
            lambda row: dump_cells.span(row.base_sequence, row.last_sequence),
            is_optional=True,
        ),
        DumpColumn("flags", dump_cells.flags, "left", wraps=True, is_optional=True),
    ),
    RecordRow: (
        DumpColumn("offset", lambda row: str(row.offset)),
        DumpColumn("timestamp", lambda row: cells.moment(row.timestamp), "left"),
        DumpColumn("key", dump_cells.key, "left", wraps=True, is_optional=True, ratio=1),
        DumpColumn("value", dump_cells.value, "left", wraps=True, ratio=2),
    ),
    OffsetPosition: (
        DumpColumn("offset", lambda row: str(row.offset)),
        DumpColumn("position", lambda row: str(row.position)),
    ),
    TimestampOffset: (
        DumpColumn("timestamp", lambda row: str(row.timestamp)),
        DumpColumn("in UTC", lambda row: cells.moment(row.timestamp), "left"),
        DumpColumn("offset", lambda row: str(row.offset)),
    ),
    AbortedTransaction: (
        DumpColumn("producer", lambda row: str(row.producer_id)),
        DumpColumn("offsets", lambda row: dump_cells.span(row.first_offset, row.last_offset)),
        DumpColumn("last stable offset", lambda row: str(row.last_stable_offset)),
    ),
    ProducerRow: (
        DumpColumn("producer", lambda row: f"{row.producer_id}/{row.producer_epoch}"),
        DumpColumn(
            "last sequences", lambda row: dump_cells.span(row.first_sequence, row.last_sequence)
        ),
        DumpColumn("last offset", lambda row: cells.number(row.last_offset)),
        DumpColumn("last timestamp", lambda row: cells.moment(row.last_timestamp), "left"),
        DumpColumn("coordinator epoch", lambda row: cells.number(row.coordinator_epoch)),
        DumpColumn("open since", lambda row: cells.number(row.current_txn_first_offset)),
    ),
    EpochEntry: (
        DumpColumn("epoch", lambda row: str(row.epoch)),
        DumpColumn("start offset", lambda row: str(row.start_offset)),
    ),
    PartitionOffset: (
        DumpColumn("topic", lambda row: row.topic, "left"),
        DumpColumn("partition", lambda row: str(row.partition)),
        DumpColumn("offset", lambda row: str(row.offset)),
    ),
    Property: (
        DumpColumn("property", lambda row: row.name, "left"),
        DumpColumn(
            "value", lambda row: cells.NOTHING if row.value is None else str(row.value), "left"
        ),
    ),
}
