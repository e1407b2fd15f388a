"""Decodes and encodes columns by the schemas of a registry, in Spark's Python workers.

A column is divided by the ids of its values' schemas; each part is decoded with a codec that is
kept as long as the worker. A value that cannot be decoded gets a reason. A registry that does not
answer fails the task instead: its values may be perfect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

# Spark evaluates the annotations of functions, so this is imported at run time.
import pyarrow as pa

from ottla.client.errors import SerializationError
from ottla.client.schemas.recently_used import RecentlyUsed
from ottla.client.schemas.registry_http import RegistryError, RegistryUnavailableError
from ottla.pipeline.definitions.errors import UnwritableRowError
from ottla.pipeline.definitions.registered_subject import AVRO, JSON, RegisteredSubject, of_id
from ottla.pipeline.definitions.row_decoding import HEADER_BYTES
from ottla.schemas.framing import frame

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_SERVER_ERROR: Final = 500


class ColumnCodec(Protocol):
    """Of one writer's schema."""

    def decode(self, values: pa.Array) -> tuple[pa.Array, list[str | None]]:
        """The structs of the columns, and the reasons of those that cannot be decoded. Values begin
        with the header of five bytes, and are not null."""


# By registry, subject with its version, and the id of the writer's schema.
_codecs: Final = RecentlyUsed()


def decoding(subject: RegisteredSubject, fields: StructType) -> Callable[[pa.Array], pa.Array]:
    """A function from values to `fields` and `reason`, of which one is null."""

    def decode(values: pa.Array) -> pa.Array:
        from pyspark.sql.pandas.types import to_arrow_type

        kind = to_arrow_type(fields, timezone="UTC")
        ids = schema_ids(values)
        reasons: list[str | None] = [None] * len(values)
        parts, order = [], []
        for id_ in np.unique(ids):
            rows = np.nonzero(ids == id_)[0]
            order.append(rows)
            part = values if len(rows) == len(values) else values.take(pa.array(rows))
            found, why = _part(subject, int(id_), part, kind)
            parts.append(found)
            for row, reason in zip(rows.tolist(), why, strict=True):
                reasons[row] = reason
        if len(parts) == 1:
            columns = parts[0]
        elif parts:
            back = np.argsort(np.concatenate(order), kind="stable")
            columns = pa.concat_arrays(parts).take(pa.array(back))
        else:
            columns = pa.nulls(0, kind)
        return pa.StructArray.from_arrays(
            [columns, pa.array(reasons, pa.string())], ["fields", "reason"]
        )

    return decode


NULL_VALUE: Final = -1
NO_HEADER: Final = -2


def schema_ids(values: pa.Array) -> np.ndarray[Any, Any]:
    """The ids; NULL_VALUE or NO_HEADER for values without one."""
    values = values.cast(pa.binary())
    count = len(values)
    _, offsets_buffer, data_buffer = values.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32)[values.offset : values.offset + count + 1]
    data = np.frombuffer(data_buffer or b"", np.uint8)
    starts = offsets[:-1].astype(np.int64)
    is_framed = np.diff(offsets) >= HEADER_BYTES
    ids = np.full(count, NO_HEADER, np.int64)
    at = starts[is_framed]
    found = np.zeros(len(at), np.int64)
    for index in range(1, HEADER_BYTES):
        found = found << 8 | data[at + index]
    ids[is_framed] = np.where(data[at] == 0, found, NO_HEADER)
    if values.null_count:
        ids[np.asarray(values.is_null())] = NULL_VALUE
    return ids


def _part(
    subject: RegisteredSubject, id_: int, values: pa.Array, kind: pa.DataType
) -> tuple[pa.Array, list[str | None]]:
    if id_ == NULL_VALUE:
        return pa.nulls(len(values), kind), ["is null"] * len(values)
    if id_ == NO_HEADER:
        reason = "does not begin with the id of a schema"
        return pa.nulls(len(values), kind), [reason] * len(values)
    codec = _codec(subject, id_, kind)
    if isinstance(codec, str):
        return pa.nulls(len(values), kind), [codec] * len(values)
    return codec.decode(values)


def _codec(subject: RegisteredSubject, id_: int, kind: pa.DataType) -> ColumnCodec | str:
    """The codec, or the reason why values with this id cannot be decoded. Raises RegistryError
    while the registry does not answer."""
    key = (subject.registry, subject.name, subject.id, id_)
    if key in _codecs:
        found: ColumnCodec | str = _codecs.get(key)
        return found
    try:
        writer = subject.schemas if id_ == subject.id else asyncio.run(of_id(id_, subject.registry))
        codec: ColumnCodec | str = _made(subject, writer, kind)
    except RegistryUnavailableError:
        raise
    except RegistryError as error:
        if error.status >= _SERVER_ERROR or error.status < 0:
            raise
        # Not kept: it may be registered in a moment.
        return f"has the schema id {id_}, which the registry refuses: {error}"
    except SerializationError as error:
        codec = f"has the schema id {id_}, which cannot be used: {error}"
    _codecs.keep(key, codec, 1 << 12)
    return codec


def _made(subject: RegisteredSubject, writer: Any, kind: pa.DataType) -> ColumnCodec:
    if writer.schema.type != subject.schemas.schema.type:
        raise SerializationError(f"it is of the type {writer.schema.type}")
    if writer.schema.type == AVRO:
        from ottla.pipeline.definitions.avro_subject import AvroColumns

        return AvroColumns(writer, subject.schemas, kind)
    if writer.schema.type == JSON:
        from ottla.pipeline.definitions.json_columns import JsonColumns

        return JsonColumns(writer, kind)
    from ottla.pipeline.definitions.protobuf_columns import ProtobufColumns

    return ProtobufColumns(writer, kind)


def encoding(subject: RegisteredSubject) -> Callable[[pa.Array], pa.Array]:
    """A function from rows to values. Raises UnwritableRowError."""

    def encode(rows: pa.Array) -> pa.Array:
        write = _writer(subject)
        values = []
        for row in rows.to_pylist(maps_as_pydicts="strict"):
            try:
                values.append(frame(subject.id, write(row)))
            except SerializationError as error:
                raise UnwritableRowError(
                    f"a row does not fit the subject {subject.name}: {error}; it is {row}"
                ) from None
        return pa.array(values, pa.binary())

    return encode


def _writer(subject: RegisteredSubject) -> Callable[[dict[str, Any]], bytes]:
    from ottla.client.schemas.codecs import AvroCodec

    if subject.schemas.schema.type == AVRO:
        return AvroCodec(subject.schemas).encode
    if subject.schemas.schema.type == JSON:
        from ottla.pipeline.definitions.json_columns import json_writer

        return json_writer(subject.schemas)
    from ottla.pipeline.definitions.protobuf_columns import protobuf_writer

    return protobuf_writer(subject.schemas)
