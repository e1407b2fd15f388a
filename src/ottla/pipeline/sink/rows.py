"""Spark's columns as keys, values, headers, topics and partitions.

The columns are those of Spark's Kafka connector: `value`, and where they are there `key`,
`headers`, `topic` and `partition`. Others are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from ottla.pipeline.sink.record_bodies import Payloads, encode_headers
from ottla.pipeline.source.errors import OptionError

_TEXT_OR_BYTES: Final = ("string", "binary")
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "key": _TEXT_OR_BYTES,
    "value": _TEXT_OR_BYTES,
    "headers": ("array<struct<key:string,value:binary>>",),
    "topic": ("string",),
    "partition": ("int",),
}


class Rows(NamedTuple):
    """Columns of the same length. Where topics are not given, all rows go to the option's."""

    payloads: Payloads
    topics: pa.Array | None
    partitions: pa.Array | None

    def __len__(self) -> int:
        return len(self.payloads.values)


def check_columns(types: Mapping[str, str], *, has_topic: bool) -> None:
    """`types` are as Spark writes them. Raises OptionError for columns that cannot be written."""
    if "value" not in types:
        raise OptionError(
            f"rows need a column value, as {' or '.join(_TEXT_OR_BYTES)}; "
            f"they have {', '.join(types) or 'none'}"
        )
    if not has_topic and "topic" not in types:
        raise OptionError("no topic: set the option topic, or give rows a column topic")
    for name, allowed in _TYPES.items():
        if name == "topic" and has_topic:
            continue
        if name in types and types[name] not in allowed:
            raise OptionError(
                f"the column {name} is {types[name]}; it is to be {' or '.join(allowed)}: cast it, "
                "or encode it, as with to_json"
            )


def to_rows(batches: Sequence[pa.RecordBatch], *, has_topic: bool) -> Rows:
    """The rows of some batches together. The option's topic goes before the column's."""
    values = _binary(batches, "value")
    assert values is not None, "the columns were checked"
    keys = _binary(batches, "key")
    if keys is None:
        keys = pa.nulls(len(values), pa.binary())
    headers = _column(batches, "headers")
    encoded, counts = (None, None) if headers is None else encode_headers(headers)
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
