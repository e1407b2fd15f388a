"""Spark's columns as keys, values, headers, topics and partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from ottla.pipeline.writing.errors import RowError
from ottla.wire.records.record_bodies import Payloads, encode_headers


class Rows(NamedTuple):
    """Columns of the same length. Without `topics` all rows go to the topic of the options."""

    payloads: Payloads
    topics: pa.Array | None
    partitions: pa.Array | None

    def __len__(self) -> int:
        return len(self.payloads.values)


def to_rows(batches: Sequence[pa.RecordBatch], *, has_topic: bool) -> Rows:
    """The rows of all batches. The option `topic` overrides the column `topic`."""
    values = _binary(batches, "value")
    assert values is not None, "the columns were checked"
    keys = _binary(batches, "key")
    if keys is None:
        keys = pa.nulls(len(values), pa.binary())
    headers = _column(batches, "headers")
    try:
        encoded, counts = (None, None) if headers is None else encode_headers(headers)
    except ValueError as error:
        raise RowError(str(error)) from None
    topics = None if has_topic else _column(batches, "topic")
    return Rows(Payloads(keys, values, encoded, counts), topics, _column(batches, "partition"))


def _column(batches: Sequence[pa.RecordBatch], name: str) -> pa.Array | None:
    if name not in batches[0].schema.names:
        return None
    columns = [batch.column(name) for batch in batches]
    return columns[0] if len(columns) == 1 else pa.concat_arrays(columns)


def _binary(batches: Sequence[pa.RecordBatch], name: str) -> pa.Array | None:
    column = _column(batches, name)
    return column if column is None or column.type == pa.binary() else column.cast(pa.binary())
