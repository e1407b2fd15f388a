"""Kafka's framing of records of several types in one log.

Frame version, record type and record version, all unsigned varints, followed by the record up to
the last byte. The type is the record's `api_key`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.schema import Message
from ottla.wire.varint import encode_uvarint, read_uvarint

FRAME_VERSION = 1


class TypedRecords:
    """The record types of one log. Immutable."""

    def __init__(self, *classes: type[Message]) -> None:
        self._by_type = {cls.api_key: cls for cls in classes}
        assert len(self._by_type) == len(classes)
        assert None not in self._by_type

    def __iter__(self) -> Iterator[type[Message]]:
        return iter(self._by_type.values())

    def class_of(self, record_type: int) -> type[Message]:
        found = self._by_type.get(record_type)
        if found is None:
            raise ProtocolError(f"record type {record_type} is unknown here")
        return found

    def encode(self, record: Message, version: int) -> bytes:
        assert record.api_key is not None
        assert self._by_type[record.api_key] is type(record)
        parts: list[Buffer] = [
            encode_uvarint(FRAME_VERSION) + encode_uvarint(record.api_key) + encode_uvarint(version)
        ]
        record.encode_into(parts, version)
        return b"".join(parts)

    def decode(self, data: Buffer) -> tuple[Message, int]:
        """Decodes the record that fills `data`. Returns it with its version."""
        frame_version, position = read_uvarint(data, 0)
        if frame_version != FRAME_VERSION:
            raise ProtocolError(
                f"the record has frame version {frame_version} instead of {FRAME_VERSION}"
            )
        record_type, position = read_uvarint(data, position)
        version, position = read_uvarint(data, position)
        record, end = self.class_of(record_type).decode_from(data, version, position)
        if end != len(data):
            raise ProtocolError(
                f"{len(data) - end} bytes follow the {type(record).__name__} that ends at {end}"
            )
        return record, version
