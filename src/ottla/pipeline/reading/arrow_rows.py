"""Decodes record batches to Arrow, in the columns of Spark's Kafka source."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from ottla.model import Buffer
from ottla.pipeline.reading.columns import SourceColumn
from ottla.pipeline.reading.errors import UnreadableBatchError
from ottla.pipeline.reading.ranges import OffsetRange
from ottla.pipeline.reading.record_batches import Fetched
from ottla.wire.errors import ProtocolError
from ottla.wire.records.columns import (
    BinaryColumn,
    ColumnSelection,
    HeadersColumn,
    RecordColumns,
    decode_columns,
)
from ottla.wire.records.header import BatchHeader

_log = logging.getLogger(__name__)

# Rows in one Arrow batch; a fetch may have more.
_ROWS_MAX: Final = 65_536
_MICROSECONDS: Final = 1_000

_HEADER_TYPE: Final = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
_TYPES: Final = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestampType": pa.int32(),
    "headers": pa.list_(_HEADER_TYPE),
}


class ArrowRows:
    """Decodes the rows of one range. Columns with a constant value are built once and reused."""

    def __init__(
        self,
        offset_range: OffsetRange,
        columns: Sequence[SourceColumn],
        *,
        fail_on_data_loss: bool = True,
    ) -> None:
        self._range = offset_range
        self._fail_on_data_loss = fail_on_data_loss
        names = {column.name for column in columns}
        self._selection = ColumnSelection(
            keys="key" in names, values="value" in names, headers="headers" in names
        )
        self._schema = pa.schema(
            pa.field(name, _TYPES[name], nullable=is_nullable) for name, is_nullable in columns
        )
        self._repeated: dict[tuple[str, str | int], pa.Array] = {}

    def read(self, fetched: Fetched) -> Iterator[pa.RecordBatch]:
        """Yields the rows within the range, at most `_ROWS_MAX` at a time. Raises
        UnreadableBatchError for a batch that cannot be decoded, or skips it if `failOnDataLoss` is
        false."""
        if not fetched.batches:
            return
        try:
            records = self._decode(fetched.batches)
        except ProtocolError:
            # One batch is bad, or all of them together are too large: decode them one by one.
            for each in self._readable(fetched):
                yield from self._rows(self._decode(each.batches), each)
        else:
            yield from self._rows(records, fetched)

    def _decode(self, batches: list[Buffer]) -> RecordColumns:
        records = decode_columns(batches, selection=self._selection)
        if np.any(records.offsets[1:] <= records.offsets[:-1]):
            raise ProtocolError("the offsets of its records do not ascend")
        return records

    def _readable(self, fetched: Fetched) -> Iterator[Fetched]:
        """The batches that overlap the range and can be decoded, one by one."""
        for header, batch in zip(fetched.headers, fetched.batches, strict=True):
            if header.last_offset < fetched.start or header.base_offset >= self._range.end:
                continue
            try:
                self._decode([batch])
            except ProtocolError as error:
                self._report(header, error)
            else:
                yield Fetched(fetched.start, [header], [batch])

    def _report(self, header: BatchHeader, error: ProtocolError) -> None:
        name = self._range.partition
        unreadable = (
            f"{name.topic}-{name.partition}: the batch of offsets {header.base_offset} to "
            f"{header.last_offset} has a correct checksum, but its records cannot be read: {error}"
        )
        if self._fail_on_data_loss:
            raise UnreadableBatchError(
                f"{unreadable}. A producer with a bug wrote it. failOnDataLoss=false skips such "
                "batches"
            ) from error
        _log.warning("%s. Skipping it, because failOnDataLoss is false", unreadable)

    def _rows(self, records: RecordColumns, fetched: Fetched) -> Iterator[pa.RecordBatch]:
        arrays = [self._array(name, records, fetched) for name in self._schema.names]
        rows = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        first, last = np.searchsorted(records.offsets, (fetched.start, self._range.end))
        rows = rows.slice(int(first), int(last - first))
        for start in range(0, rows.num_rows, _ROWS_MAX):
            yield rows.slice(start, _ROWS_MAX)

    def _array(self, name: str, records: RecordColumns, fetched: Fetched) -> pa.Array:
        count, partition = len(records), self._range.partition
        match name:
            case "key":
                return _binary(records.keys, pa.binary())
            case "value":
                return _binary(records.values, pa.binary())
            case "topic":
                return self._repeat(name, partition.topic, count)
            case "partition":
                return self._repeat(name, partition.partition, count)
            case "offset":
                return pa.array(records.offsets)
            case "timestamp":
                microseconds = pa.py_buffer(records.timestamps * _MICROSECONDS)
                return pa.Array.from_buffers(_TYPES[name], count, [None, microseconds])
            case "timestampType":
                types = [header.timestamp_type for header in fetched.headers]
                if len(set(types)) == 1:
                    return self._repeat(name, types[0], count)
                counts = [header.record_count for header in fetched.headers]
                return pa.array(np.repeat(np.array(types, np.int32), counts))
            case _:
                return _headers(records.headers)

    def _repeat(self, name: str, value: str | int, count: int) -> pa.Array:
        known = self._repeated.get((name, value))
        if known is None or len(known) < count:
            known = pa.repeat(pa.scalar(value, _TYPES[name]), count)
            self._repeated[name, value] = known
        return known.slice(0, count)


def _binary(column: BinaryColumn, kind: pa.DataType) -> pa.Array:
    validity = None if column.validity is None else pa.py_buffer(column.validity)
    buffers = [validity, pa.py_buffer(column.offsets), pa.py_buffer(column.data)]
    return pa.Array.from_buffers(kind, len(column.offsets) - 1, buffers)


def _headers(column: HeadersColumn) -> pa.Array:
    """The column `headers`; null for a record without headers, as in Spark's own source."""
    pairs = pa.StructArray.from_arrays(
        [_binary(column.keys, pa.string()), _binary(column.values, pa.binary())],
        fields=list(_HEADER_TYPE),
    )
    is_there = np.packbits(np.diff(column.offsets) > 0, bitorder="little")
    buffers = [pa.py_buffer(is_there), pa.py_buffer(column.offsets)]
    return pa.Array.from_buffers(
        _TYPES["headers"], len(column.offsets) - 1, buffers, children=[pairs]
    )
