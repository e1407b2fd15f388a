"""Protobuf messages of a file that the registry has, without generated code."""

from __future__ import annotations

import base64
from importlib import import_module
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import DecodeError

from ottla.client.errors import SerializationError
from ottla.client.schemas.codecs import SchemaSet
from ottla.schemas.errors import InvalidPayloadError
from ottla.schemas.framing import decode_indexes

# The files that come with the runtime; schemas import them without a reference.
_BUILT_IN = "google/protobuf/"


class ProtobufCodec:
    """`schemas` have the texts of descriptors, in base64. Decodes to dicts, or to messages."""

    def __init__(self, schemas: SchemaSet, *, as_messages: bool) -> None:
        self._as_messages = as_messages
        pool = descriptor_pool.DescriptorPool()
        added: set[str] = set()
        try:
            files = [_file(text, name) for name, text in schemas.references.items()]
            file = _file(schemas.schema.text, None)
            for each in (*files, file):
                for name in each.dependency:
                    _add_built_in(pool, name, added)
                pool.Add(each)
            self._file = pool.FindFileByName(file.name)
        except (TypeError, KeyError, ValueError, ImportError, DecodeError) as error:
            raise SerializationError(f"the Protobuf schema cannot be used: {error}") from None
        self._order = [each.name for each in file.message_type]
        self._classes: dict[tuple[int, ...], Any] = {}

    def decode(self, data: bytes, indexes: bytes | None = None) -> Any:
        """`indexes` come from a header; otherwise they are in front of the data. Raises
        SerializationError."""
        try:
            found, begin = decode_indexes(data if indexes is None else indexes)
        except InvalidPayloadError as error:
            raise SerializationError(str(error)) from None
        message = self.message_class(found)()
        try:
            message.ParseFromString(data[begin:] if indexes is None else data)
        except DecodeError as error:
            raise SerializationError(f"the data are no such message: {error}") from None
        if self._as_messages:
            return message
        return json_format.MessageToDict(message, preserving_proto_field_name=True)

    def message_class(self, indexes: list[int]) -> Any:
        key = tuple(indexes)
        if key not in self._classes:
            try:
                descriptor = self._file.message_types_by_name[self._order[key[0]]]
                for index in key[1:]:
                    descriptor = descriptor.nested_types[index]
            except (IndexError, KeyError):
                raise SerializationError(f"the schema has no message {indexes}") from None
            self._classes[key] = message_factory.GetMessageClass(descriptor)
        return self._classes[key]


def message_indexes(descriptor: Any) -> list[int]:
    """The place of a message in its file, from the outermost message to it."""
    indexes: list[int] = []
    while descriptor.containing_type is not None:
        nested = [each.name for each in descriptor.containing_type.nested_types]
        indexes.insert(0, nested.index(descriptor.name))
        descriptor = descriptor.containing_type
    file = descriptor_pb2.FileDescriptorProto()
    descriptor.file.CopyToProto(file)
    return [[each.name for each in file.message_type].index(descriptor.name), *indexes]


def is_built_in(name: str) -> bool:
    return name.startswith(_BUILT_IN)


def _add_built_in(pool: Any, name: str, added: set[str]) -> None:
    """With what it imports; only files that a schema names, which may define the others itself."""
    stem = name.removeprefix(_BUILT_IN).removesuffix(".proto")
    if name in added or not is_built_in(name) or not stem.isidentifier():
        return
    added.add(name)
    descriptor = import_module(f"google.protobuf.{stem}_pb2").DESCRIPTOR
    for imported in descriptor.dependencies:
        _add_built_in(pool, imported.name, added)
    pool.AddSerializedFile(descriptor.serialized_pb)


def _file(text: str, name: str | None) -> Any:
    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text))
    file.name = name or file.name or "default.proto"
    return file
