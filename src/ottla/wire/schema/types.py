"""The types of fields.

Declarations use them as annotations (`acks: Int16`), which type checkers treat as plain `int`,
`str` or `bytes`, and which the compilers resolve to the descriptions below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from ottla.model import Buffer
from ottla.model import Uuid as RawUuid

if TYPE_CHECKING:
    from ottla.wire.schema.struct import Struct

TEXT_BYTES_MAX = 32767


class Fixed(NamedTuple):
    """A value of constant size, with its `struct` code. Runs of these are packed in one call."""

    name: str
    code: str
    size: int


class TextType:
    """Length-prefixed UTF-8, at most TEXT_BYTES_MAX bytes in either length encoding."""

    __slots__ = ()


class Blob(NamedTuple):
    """Length-prefixed bytes. Decoding copies them, except `records`, which stay a view."""

    records: bool


class Array(NamedTuple):
    element: FieldType


class Nested(NamedTuple):
    struct: type[Struct]


FieldType: TypeAlias = Fixed | TextType | Blob | Array | Nested

Bool = Annotated[bool, Fixed("BOOLEAN", "?", 1)]
Int8 = Annotated[int, Fixed("INT8", "b", 1)]
Int16 = Annotated[int, Fixed("INT16", "h", 2)]
Int32 = Annotated[int, Fixed("INT32", "i", 4)]
Int64 = Annotated[int, Fixed("INT64", "q", 8)]
Uint16 = Annotated[int, Fixed("UINT16", "H", 2)]
Uint32 = Annotated[int, Fixed("UINT32", "I", 4)]
Float64 = Annotated[float, Fixed("FLOAT64", "d", 8)]
Uuid = Annotated[RawUuid, Fixed("UUID", "16s", 16)]
String = Annotated[str, TextType()]
Bytes = Annotated[bytes, Blob(records=False)]
# When encoding, this may be any sized object that the transport can send: a buffer or a file slice.
Records = Annotated[Buffer, Blob(records=True)]
