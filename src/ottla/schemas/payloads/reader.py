"""One interface to the payloads of all three types."""

from __future__ import annotations

from typing import Any, Protocol

from ottla.schemas.errors import InvalidSchemaError
from ottla.schemas.source import SchemaSource, SchemaType


class PayloadReader(Protocol):
    """`data` are what follows the schema's id. Protobuf's message indexes are in front of them,
    unless a header has them in `indexes`."""

    def check(self, data: bytes, indexes: bytes | None) -> None:
        """Raises InvalidPayloadError if the data are not what the schema says."""

    def record_name(self, data: bytes, indexes: bytes | None) -> str | None:
        """The full name of the record, message or object; None if it has none. Raises
        InvalidPayloadError."""


def payload_reader(source: SchemaSource) -> PayloadReader:
    """Raises InvalidSchemaError. Imports a type's library when it is first used."""
    reader: Any
    try:
        if source.type is SchemaType.AVRO:
            from ottla.schemas.payloads.avro import AvroPayloads

            reader = AvroPayloads(source)
        elif source.type is SchemaType.JSON:
            from ottla.schemas.payloads.json_schema import JsonPayloads

            reader = JsonPayloads(source)
        else:
            from ottla.schemas.payloads.protobuf import ProtobufPayloads

            reader = ProtobufPayloads(source)
    except RecursionError:
        raise InvalidSchemaError("the schema nests too deeply") from None
    checked: PayloadReader = reader
    return checked
