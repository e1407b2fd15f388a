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


class Column(NamedTuple):
    """One column of the rows of a type. Those that may wrap give way on a narrow terminal."""

    title: str
    cell: Callable[[Any], str | Text]
    justify: Literal["left", "right"] = "right"
    wraps: bool = False
    # Left out until a row has something for it.
    is_optional: bool = False
    # Its part of the room that the other columns leave; None takes what its cells need.
    ratio: int | None = None


COLUMNS: Final[dict[type[Row], tuple[Column, ...]]] = {
    BatchRow: (
        Column("offsets", lambda row: dump_cells.span(row.base_offset, row.last_offset)),
        Column("records", lambda row: str(row.record_count)),
        Column("position", lambda row: str(row.position)),
        Column("bytes", lambda row: str(row.size_in_bytes)),
        Column("codec", lambda row: row.codec, "left"),
        Column("max timestamp", lambda row: cells.moment(row.max_timestamp), "left", wraps=True),
        Column("epoch", lambda row: cells.number(row.leader_epoch)),
        Column("producer", dump_cells.producer, "left", is_optional=True),
        Column(
            "sequences",
            lambda row: dump_cells.span(row.base_sequence, row.last_sequence),
            is_optional=True,
        ),
        Column("flags", dump_cells.flags, "left", wraps=True, is_optional=True),
    ),
    RecordRow: (
        Column("offset", lambda row: str(row.offset)),
        Column("timestamp", lambda row: cells.moment(row.timestamp), "left"),
        Column("key", dump_cells.key, "left", wraps=True, is_optional=True, ratio=1),
        Column("value", dump_cells.value, "left", wraps=True, ratio=2),
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
        Column("offsets", lambda row: dump_cells.span(row.first_offset, row.last_offset)),
        Column("last stable offset", lambda row: str(row.last_stable_offset)),
    ),
    ProducerRow: (
        Column("producer", lambda row: f"{row.producer_id}/{row.producer_epoch}"),
        Column(
            "last sequences", lambda row: dump_cells.span(row.first_sequence, row.last_sequence)
        ),
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
