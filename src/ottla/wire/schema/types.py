"""The types that a field can have.

A declaration names them as annotations (`acks: Int16`), which a type checker reads as plain
`int`, `str` or `bytes`, and which the compiler resolves to the descriptions below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

from ottla.model import Buffer
from ottla.model import Uuid as RawUuid

if TYPE_CHECKING:
    from ottla.wire.schema.struct import Struct

TEXT_BYTES_MAX = 32767


class Fixed(NamedTuple):
    """A value of constant size, with its `struct` code. Runs of these are packed in one go."""

    name: str
    code: str
    size: int


class TextType:
    """UTF-8 after its length, of TEXT_BYTES_MAX at most whatever form the length has."""

    __slots__ = ()


class Blob(NamedTuple):
    """Bytes after their length: copied out, unless they are `records`, which stay a view."""

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
# On encoding, anything sized that the transport can send will do: a buffer or a slice of a file.
Records = Annotated[Buffer, Blob(records=True)]
