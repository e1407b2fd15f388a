"""Avro by subject: compiled loops for flat records, fastavro for the others."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa

from ottla.client.errors import SerializationError
from ottla.client.schemas.codecs import AvroCodec, SchemaSet
from ottla.pipeline.definitions.avro_flat import FlatReader, resolve
from ottla.pipeline.definitions.avro_loops import LEFT
from ottla.pipeline.definitions.avro_schema import Schema
from ottla.pipeline.definitions.row_decoding import HEADER_BYTES, by_row


class AvroColumns:
    """Values of the writer's schema, read as the reader's."""

    def __init__(self, writer: SchemaSet, reader: SchemaSet, kind: pa.DataType) -> None:
        """Raises SerializationError."""
        self._kind = kind
        self._writer = parsed(writer)
        self._codec = AvroCodec(writer, reader)
        self._flat: FlatReader | None = None
        if not writer.references and not reader.references:
            types = {field.name: field.type for field in kind}
            self._flat = resolve(self._writer, parsed(reader), types)

    def decode(self, values: pa.Array) -> tuple[pa.Array, list[str | None]]:
        if self._flat is not None:
            try:
                return self._decode_flat(self._flat, values)
            except pa.ArrowInvalid:
                # A string is not UTF-8. Row by row, the others are found.
                pass
        return by_row(values, self._kind, self._decode_row)

    def _decode_flat(self, flat: FlatReader, values: pa.Array) -> tuple[pa.Array, list[str | None]]:
        columns, errors = flat.read(values, HEADER_BYTES)
        reasons: list[str | None] = [None] * len(values)
        for row in np.nonzero(errors)[0].tolist():
            reasons[row] = self._reason(int(errors[row]))
        mask = pa.array(errors != 0) if errors.any() else None
        found = pa.StructArray.from_arrays(columns, fields=list(self._kind), mask=mask)
        return found, reasons

    def _reason(self, error: int) -> str:
        name = self._writer["name"]
        if error == LEFT:
            return f"is not an Avro record {name}: bytes are left behind its last field"
        return f"is not an Avro record {name}: its field {self._field(error)} cannot be read"

    def _field(self, number: int) -> str:
        return str(self._writer["fields"][number - 1]["name"])

    def _decode_row(self, data: bytes) -> dict[str, Any]:
        stream = io.BytesIO(data)
        try:
            found: dict[str, Any] = self._codec.decode(data)
        except (SerializationError, UnicodeDecodeError, OverflowError) as error:
            raise SerializationError(self._failing(stream) or str(error)) from None
        return found

    def _failing(self, stream: io.BytesIO) -> str:
        """Reads field by field, to name the first one that fails."""
        import fastavro

        for number, field in enumerate(self._writer["fields"], start=1):
            one: Schema = {"type": "record", "name": "one", "fields": [field]}
            try:
                fastavro.schemaless_reader(stream, one, None)
            # fastavro has no exception of its own for invalid bytes.
            except Exception:
                return self._reason(number)
        return ""


def parsed(schemas: SchemaSet) -> Schema:
    """Raises SerializationError if it is not a record."""
    import fastavro

    named: dict[str, Any] = {}
    for text in schemas.references.values():
        fastavro.parse_schema(json.loads(text), named_schemas=named)
    found = fastavro.parse_schema(json.loads(schemas.schema.text), named_schemas=named)
    if not isinstance(found, dict) or found.get("type") != "record":
        raise SerializationError("it is not the schema of a record")
    return found
