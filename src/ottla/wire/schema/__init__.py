"""Message declarations, from which an encoder and a decoder are compiled for each version."""

from ottla.wire.schema.message import Message
from ottla.wire.schema.struct import Struct, field
from ottla.wire.schema.types import (
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Records,
    String,
    Uint16,
    Uint32,
    Uuid,
)

__all__ = [
    "Bool",
    "Bytes",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Message",
    "Records",
    "String",
    "Struct",
    "Uint16",
    "Uint32",
    "Uuid",
    "field",
]
