"""Protobuf: the file is compiled by protoc, and the data parsed by Protobuf's C++ code. Only for a
worker process."""

from __future__ import annotations

from typing import Any

from google.protobuf import message_factory
from google.protobuf.message import DecodeError

from ottla.schemas.errors import InvalidPayloadError
from ottla.schemas.framing import decode_indexes
from ottla.schemas.protobuf.compiling import compile_protobuf
from ottla.schemas.protobuf.options import make_pool
from ottla.schemas.source import SchemaSource


class ProtobufPayloads:
    def __init__(self, source: SchemaSource) -> None:
        """Raises InvalidSchemaError."""
        files = compile_protobuf(source.text, source.references)
        self._file = make_pool(files).FindFileByName(files[-1].name)
        # The pool has the messages by name.
        self._order = [each.name for each in files[-1].message_type]
        self._classes: dict[tuple[int, ...], Any] = {}

    def check(self, data: bytes, indexes: bytes | None) -> None:
        found, start = decode_indexes(data if indexes is None else indexes)
        message = self._class(tuple(found))()
        try:
            message.ParseFromString(data[start:] if indexes is None else data)
        except (DecodeError, RecursionError) as error:
            raise InvalidPayloadError(f"it is not a message of this type: {error}") from None
        if not message.IsInitialized():
            missing = ", ".join(message.FindInitializationErrors())
            raise InvalidPayloadError(f"required fields are missing: {missing}")

    def record_name(self, data: bytes, indexes: bytes | None) -> str | None:
        found, _ = decode_indexes(data if indexes is None else indexes)
        name: str = self._class(tuple(found)).DESCRIPTOR.full_name
        return name

    def _class(self, indexes: tuple[int, ...]) -> Any:
        if indexes not in self._classes:
            if min(indexes) < 0:
                raise InvalidPayloadError(f"the schema has no message {list(indexes)}")
            try:
                descriptor = self._file.message_types_by_name[self._order[indexes[0]]]
                for index in indexes[1:]:
                    descriptor = descriptor.nested_types[index]
            except (IndexError, KeyError):
                raise InvalidPayloadError(f"the schema has no message {list(indexes)}") from None
            self._classes[indexes] = message_factory.GetMessageClass(descriptor)
        return self._classes[indexes]
