"""Protobuf's messages in JSON, by descriptors that the schema registry has compiled."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

# What the registry returns instead of a file's source.
SERIALIZED: Final = "serialized"
_BUNDLED: Final = {
    f"google/protobuf/{name}.proto": f"google.protobuf.{name}_pb2"
    for name in (
        "any",
        "duration",
        "empty",
        "field_mask",
        "struct",
        "timestamp",
        "wrappers",
    )
}
_MAIN: Final = "default.proto"
# The message is the first of its file: an empty list of indexes.
_FIRST: Final = b"\0"
_INDEXES_MAX: Final = 100


class ProtobufJson:
    """Messages of one file: JSON to bytes, and back. Raises ValueError for what does not fit."""

    def __init__(self, text: str, references: Iterable[tuple[str, str]] = ()) -> None:
        self._pool = DescriptorPool()
        files = {name: _file(each, name) for name, each in references}
        main = _file(text, _MAIN)
        files[main.name] = main
        self._add(main.name, files, set())
        self._messages = list(self._pool.FindFileByName(main.name).message_types_by_name.values())
        if not self._messages:
            raise ValueError("the file has no message")

    def encode(self, value: Any) -> bytes:
        message = GetMessageClass(self._messages[0])()
        try:
            ParseDict(value, message, descriptor_pool=self._pool)
        except (JsonError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"Object does not fit to stored schema: {error}") from None
        return _FIRST + bytes(message.SerializeToString())

    def decode(self, content: bytes) -> Any:
        descriptor, start = self._described(content)
        message = GetMessageClass(descriptor)()
        try:
            message.ParseFromString(content[start:])
            return MessageToDict(
                message,
                preserving_proto_field_name=True,
                always_print_fields_with_no_presence=True,
                descriptor_pool=self._pool,
            )
        except (DecodeError, JsonError, ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"the content is not of this schema: {error}") from None

    def _described(self, content: bytes) -> tuple[Any, int]:
        """The message that the indexes in front of the content name, and where it begins."""
        count, position = _number(content, 0)
        if not 0 <= count <= _INDEXES_MAX:
            raise ValueError("it names no message of its schema")
        indexes = []
        for _ in range(count):
            index, position = _number(content, position)
            indexes.append(index)
        found: Any = None
        messages = self._messages
        for index in indexes or [0]:
            if not 0 <= index < len(messages):
                raise ValueError("it names no message of its schema")
            found = messages[index]
            messages = list(found.nested_types)
        return found, position

    def _add(self, name: str, files: dict[str, Any], seen: set[str]) -> None:
        """A file after those that it imports."""
        if name in seen:
            return
        seen.add(name)
        if name in files:
            for imported in files[name].dependency:
                self._add(imported, files, seen)
            try:
                self._pool.Add(files[name])
            except TypeError as error:
                raise ValueError(str(error)) from None
            return
        if name not in _BUNDLED:
            raise ValueError(f"it imports {name}, which is not registered")
        bundled = import_module(_BUNDLED[name]).DESCRIPTOR
        self._pool.AddSerializedFile(bundled.serialized_pb)


def _file(text: str, name: str) -> Any:
    try:
        file = FileDescriptorProto.FromString(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, DecodeError):
        raise ValueError("the registry has no descriptor of the file") from None
    file.name = name
    return file


def _number(content: bytes, position: int) -> tuple[int, int]:
    """A zigzag varint, and the position behind it."""
    value = shift = 0
    while position < len(content) and shift < 35:
        byte = content[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
    raise ValueError("it names no message of its schema")
