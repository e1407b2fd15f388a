"""The streaming source that Spark calls: first a snapshot of the table, then ranges of the log.

    {"lsn": L} ──snapshot──▶ {"lsn": L, "snapshot": S} ──log──▶ {"lsn": M, "snapshot": S} ──▶ ...

An offset without `snapshot` is before the snapshot; the slot has kept the log since L. S says which
transactions the snapshot shows; the others are read from the log. A range of the log contains the
transactions whose commit begins at its first position or later, and before its last one. It can be
read again until the batch behind it is committed: only then does the slot advance.

A snapshot ends with the process that took it. If its batch has to run again, another one is taken:
changes between the two then come a second time, in the same order, after the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from ottla.pipeline.capture.changes import ChangeDecoder
from ottla.pipeline.capture.column_types import TableColumn
from ottla.pipeline.capture.database import (
    CaptureDatabase,
    CapturedTable,
    Slot,
    TableSnapshot,
)
from ottla.pipeline.capture.row_batches import (
    CHANGE_DDL,
    change_batches,
    snapshot_batch,
)
from ottla.pipeline.capture.snapshots import VisibleTransactions
from ottla.pipeline.definitions.change_column import CHANGE
from ottla.pipeline.spark_worker import leave_quietly

NAME: Final = "ottla-postgres"
# Spark hides the values of options with such a name.
DSN_OPTION: Final = "secretDsn"
_PAGES_PER_TASK: Final = 16_384
_PAGES_MAX: Final = 2**32 - 1

LogOffset: TypeAlias = dict[str, Any]


class CaptureOptions(NamedTuple):
    dsn: str
    table: str
    slot: Slot
    texts: frozenset[str]
    log_bytes_max: int

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> CaptureOptions:
        slot = Slot(options["slot"], options["publication"])
        texts = frozenset(filter(None, options.get("texts", "").split(",")))
        return cls(
            options[DSN_OPTION], options["table"], slot, texts, int(options["logBytesPerBatch"])
        )

    def describe(self) -> CapturedTable:
        table = CaptureDatabase(self.dsn).describe(self.table)
        columns = [
            TableColumn(each.name, "text", -1) if each.name in self.texts else each
            for each in table.columns
        ]
        return table._replace(columns=tuple(columns))


class PostgresSource(DataSource):
    """Registered in the session by the definition that uses it."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        columns = CaptureOptions.parse(self.options).describe().columns
        named = [f"`{each.name.replace('`', '``')}` {each.spark_type}" for each in columns]
        return ", ".join([*named, f"{CHANGE} {CHANGE_DDL}"])

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        options = CaptureOptions.parse(self.options)
        table = options.describe()
        known = set(schema.names)
        columns = tuple(each for each in table.columns if each.name in known)
        return PostgresStreamReader(options, table._replace(columns=columns))


@dataclass
class PagesPartition(InputPartition):
    """Pages of the table, or the whole table, in a snapshot."""

    snapshot_id: str
    pages: range | None
    lsn: int


@dataclass
class LogPartition(InputPartition):
    """A range of the log. There is one task, because a slot is read by one process at a time."""

    start: int
    end: int
    snapshot: str


class PostgresStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Belongs to one query, in the process that plans its batches; tasks get a copy."""

    def __init__(self, options: CaptureOptions, table: CapturedTable) -> None:
        self._options = options
        self._table = table
        self._database = CaptureDatabase(options.dsn)
        self._snapshot: TableSnapshot | None = None
        # The end of the log for an availableNow query, set before its first batch.
        self._last: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_snapshot": None}

    def initialOffset(self) -> LogOffset:  # noqa: N802 - Spark's name
        return {"lsn": self._database.prepare(self._options.slot, self._table)}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        return ReadAllAvailable()

    def latestOffset(self, start: LogOffset, limit: ReadLimit) -> LogOffset:  # noqa: ARG002, N802
        """Spark calls it when the batch that ended at `start` is committed."""
        if "snapshot" not in start:
            return {**start, "snapshot": self._opened().transactions}
        self._end_snapshot()
        database, slot, position = self._database, self._options.slot, int(start["lsn"])
        database.advance(slot, position)
        last = database.end_of_log() if self._last is None else self._last
        if last <= position:
            return start
        if not database.has_changes(slot, last):
            # Nothing of this log is for us, and the server need not keep it.
            database.advance(slot, last)
            return start
        return {**start, "lsn": min(last, position + self._options.log_bytes_max)}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        self._last = self._database.end_of_log()

    def partitions(self, start: LogOffset, end: LogOffset) -> Sequence[InputPartition]:
        if "snapshot" in start:
            return [LogPartition(int(start["lsn"]), int(end["lsn"]), start["snapshot"])]
        snapshot_id, lsn = self._opened().snapshot_id, int(end["lsn"])
        if not self._table.has_pages:
            return [PagesPartition(snapshot_id, None, lsn)]
        starts = [*range(0, max(self._table.pages, 1), _PAGES_PER_TASK)]
        # The table may have grown since its pages were counted.
        ends = [*starts[1:], _PAGES_MAX]
        return [
            PagesPartition(snapshot_id, range(first, last), lsn)
            for first, last in zip(starts, ends, strict=True)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        columns = self._table.columns
        if isinstance(partition, PagesPartition):
            rows = self._database.rows(self._table, partition.snapshot_id, partition.pages)
            for each in rows:
                yield snapshot_batch(each, columns, lsn=partition.lsn)
            return
        assert isinstance(partition, LogPartition)
        decoder = ChangeDecoder(
            self._table.name,
            key=self._table.key,
            start=partition.start,
            end=partition.end,
            snapshot=VisibleTransactions.parse(partition.snapshot),
        )
        messages = self._database.messages(self._options.slot, partition.end)
        yield from change_batches(decoder.changes(messages), columns)

    def stop(self) -> None:
        self._end_snapshot()

    def _opened(self) -> TableSnapshot:
        if self._snapshot is None:
            self._snapshot = self._database.snapshot()
        return self._snapshot

    def _end_snapshot(self) -> None:
        if self._snapshot is not None:
            self._snapshot.close()
            self._snapshot = None


leave_quietly()
