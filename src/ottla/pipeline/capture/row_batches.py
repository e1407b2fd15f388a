"""Rows and changes of rows as Arrow record batches: the table's columns, and `change`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import pyarrow as pa

from ottla.pipeline.capture.changes import RowChange
from ottla.pipeline.capture.column_types import TableColumn
from ottla.pipeline.capture.errors import CaptureError
from ottla.pipeline.capture.pgoutput import Unchanged
from ottla.pipeline.definitions.change_column import CHANGE, CHANGE_FIELDS

READ: Final = "r"
_SPARK_TYPES: Final = ("string", "bigint", "int", "bigint", "timestamp", "array<string>")
_ARROW_TYPES: Final = (
    pa.string(),
    pa.int64(),
    pa.int32(),
    pa.int64(),
    pa.timestamp("us", "UTC"),
    pa.list_(pa.string()),
)
CHANGE_DDL: Final = "struct<{}>".format(
    ", ".join(f"{name}: {kind}" for name, kind in zip(CHANGE_FIELDS, _SPARK_TYPES, strict=True))
)
_CHANGE: Final = pa.struct(
    [pa.field(name, kind) for name, kind in zip(CHANGE_FIELDS, _ARROW_TYPES, strict=True)]
)
_ROWS_MAX: Final = 10_000
_BYTES_MAX: Final = 8 << 20


def change_batches(
    changes: Iterable[RowChange], columns: Sequence[TableColumn]
) -> Iterator[pa.RecordBatch]:
    """Raises CaptureError."""
    texts: list[list[bytes | None]] = [[] for _ in columns]
    changed: list[dict[str, object]] = []
    size = 0
    places: dict[tuple[str, ...], list[int | None]] = {}
    for change in changes:
        order = places.get(change.names)
        if order is None:
            order = places[change.names] = _order(change.names, columns)
        unchanged = []
        for column, place, values in zip(columns, order, texts, strict=True):
            value = None if place is None else change.row[place]
            if isinstance(value, Unchanged):
                unchanged.append(column.name)
                value = None
            values.append(value)
            size += 0 if value is None else len(value)
        changed.append(_change(change, unchanged))
        if len(changed) == _ROWS_MAX or size > _BYTES_MAX:
            yield _batch(columns, texts, changed)
            texts, changed, size = [[] for _ in columns], [], 0
    if changed:
        yield _batch(columns, texts, changed)


def snapshot_batch(
    rows: Sequence[tuple[bytes | None, ...]], columns: Sequence[TableColumn], *, lsn: int
) -> pa.RecordBatch:
    """Raises CaptureError."""
    read = [{"operation": READ, "lsn": lsn}] * len(rows)
    return _batch(columns, list(zip(*rows, strict=True)), read)


def _change(change: RowChange, unchanged: list[str]) -> dict[str, object]:
    return {
        "operation": change.operation,
        "lsn": change.transaction.commit_lsn,
        "number": change.number,
        "transaction": change.transaction.transaction_id,
        "committed": change.transaction.committed_us,
        "unchanged": unchanged or None,
    }


def _batch(
    columns: Sequence[TableColumn],
    texts: Sequence[Sequence[bytes | None]],
    changed: Sequence[dict[str, object]],
) -> pa.RecordBatch:
    arrays = [column.array(each) for column, each in zip(columns, texts, strict=True)]
    names = [column.name for column in columns]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(changed, _CHANGE)], names=[*names, CHANGE])


def _order(names: tuple[str, ...], columns: Sequence[TableColumn]) -> list[int | None]:
    """Where each column is in the changes; None for one that was dropped."""
    known = {column.name for column in columns}
    if new := [name for name in names if name not in known]:
        raise CaptureError(
            f"the table has the new column {', '.join(new)}: start the query again; it continues "
            "with this change and the new column"
        )
    return [names.index(column.name) if column.name in names else None for column in columns]
