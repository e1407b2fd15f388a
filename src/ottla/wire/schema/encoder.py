"""Compiles one version of a message into a function that appends its bytes to a list of parts.

The generated code follows the message's layout: a run of fixed-size fields becomes one `struct`
call, and nested structs and arrays are inlined, so there is no call per struct.
"""

from __future__ import annotations

import struct
from typing import Any

from ottla.wire.errors import ProtocolError
from ottla.wire.schema.arrays import SHORT, pack_long, short_packers
from ottla.wire.schema.fields import Field, plain_fields, tagged_fields
from ottla.wire.schema.layout import Encoder, VersionedStruct
from ottla.wire.schema.source import SourceText
from ottla.wire.schema.struct import Struct
from ottla.wire.schema.types import (
    TEXT_BYTES_MAX,
    Array,
    Blob,
    FieldType,
    Fixed,
    Nested,
    TextType,
)
from ottla.wire.varint import encode_uvarint

NULL_STRUCT, PRESENT_STRUCT = b"\xff", b"\x01"
# Kafka marks a null struct with a signed byte, but in a tagged field with an unsigned varint.
NULL_TAGGED_STRUCT = b"\x00"


def compile_encoder(cls: type[VersionedStruct], version: int) -> Encoder:
    title = f"{cls.__name__} version {version}"
    source = SourceText(_SCOPE | {"title": title})
    with source.block("def encode(m, parts):"):
        with source.block("try:"):
            source.line("write = parts.append")
            text = _EncoderText(source, version, flexible=version in cls.flexible)
            text.struct(cls, "m", "write")
        with source.block("except ERRORS as error:"):
            source.line("raise refusal(title, error) from error")
    encoder: Encoder = source.make("encode", f"encoder of {title}")
    return encoder


def refusal(title: str, error: Exception) -> ProtocolError:
    return ProtocolError(f"cannot encode {title}: {error}")


def encode_text_length(length: int) -> bytes:
    if length > TEXT_BYTES_MAX + 1:
        raise ValueError(f"a string has {length - 1} bytes; {TEXT_BYTES_MAX} are allowed")
    return encode_uvarint(length)


def tag_head(tag: int, size: int) -> bytes:
    """The tag and size before the bytes of a tagged field."""
    return encode_uvarint(tag) + encode_uvarint(size)


def write_tags(
    write: Any, known: list[tuple[int, bytes]] | None, unknown: dict[int, bytes]
) -> None:
    """Writes the tagged fields: a count, then the fields in tag order. `known` fields include their
    tag and size.
    """
    others = ((tag, tag_head(tag, len(data)) + data) for tag, data in unknown.items())
    tags = sorted((*(known or ()), *others))
    write(encode_uvarint(len(tags)))
    for _, field in tags:
        write(field)


class _EncoderText:
    """Generates the code for one version. `m` names refer to structs, `write` appends a part."""

    def __init__(self, source: SourceText, version: int, *, flexible: bool) -> None:
        self._source = source
        self._version = version
        self._flexible = flexible

    def struct(self, cls: type[Struct], m: str, write: str) -> None:
        run: list[Field] = []
        for field in plain_fields(cls, self._version):
            if isinstance(field.type, Fixed):
                run.append(field)
                continue
            self._fixed_run(run, m, write)
            run = []
            self._variable(field, m, write)
        self._fixed_run(run, m, write)
        if self._flexible:
            self._tags(cls, m, write)

    def _fixed_run(self, run: list[Field], m: str, write: str) -> None:
        if run:
            codes = "".join(field.type.code for field in run if isinstance(field.type, Fixed))
            values = ", ".join(f"{m}.{field.name}" for field in run)
            self._source.line(f"{write}({self._source.layout(codes, 'pack')}({values}))")

    def _variable(self, field: Field, m: str, write: str) -> None:
        compact = self._flexible and self._version in field.options.flexible
        value = self._source.fresh("v")
        self._source.line(f"{value} = {m}.{field.name}")
        if not field.is_nullable(self._version):
            self._value(field.type, value, write, compact=compact)
            return
        with self._source.block(f"if {value} is None:"):
            tagged = field.is_tagged(self._version)
            self._source.line(f"{write}({_null(field.type, compact=compact, tagged=tagged)!r})")
        with self._source.block("else:"):
            if isinstance(field.type, Nested):
                self._source.line(f"{write}({PRESENT_STRUCT!r})")
            self._value(field.type, value, write, compact=compact)

    def _value(self, kind: FieldType, value: str, write: str, *, compact: bool) -> None:
        if isinstance(kind, Fixed):
            self._source.line(f"{write}({self._source.layout(kind.code, 'pack')}({value}))")
        elif isinstance(kind, Nested):
            self.struct(kind.struct, value, write)
        elif isinstance(kind, Array):
            self._array(kind, value, write, compact=compact)
        else:
            self._sized(kind, value, write, compact=compact)

    def _sized(self, kind: TextType | Blob, value: str, write: str, *, compact: bool) -> None:
        line = self._source.line
        data = value
        if isinstance(kind, TextType):
            data = self._source.fresh("t")
            line(f"{data} = {value}.encode()")
        if compact:
            long_form = "encode_text_length" if isinstance(kind, TextType) else "encode_uvarint"
            self._length(f"len({data}) + 1", write, long_form)
        else:
            code = "h" if isinstance(kind, TextType) else "i"
            line(f"{write}({self._source.layout(code, 'pack')}(len({data})))")
        line(f"{write}({data})")

    def _length(self, expression: str, write: str, long_form: str = "encode_uvarint") -> None:
        self._source.line(f"n = {expression}")
        self._source.line(f"{write}(SMALL[n] if n < 128 else {long_form}(n))")

    def _array(self, kind: Array, value: str, write: str, *, compact: bool) -> None:
        line = self._source.line
        if isinstance(kind.element, Fixed):
            packers = self._source.constant(
                "pack", short_packers(kind.element.code, compact=compact)
            )
            line(f"n = len({value})")
            line(
                f"{write}({packers}[n](n{' + 1' if compact else ''}, *{value}) if n < {SHORT}"
                f" else pack_long({kind.element.code!r}, {value}, compact={compact}))"
            )
            return
        if compact:
            self._length(f"len({value}) + 1", write)
        else:
            line(f"{write}({self._source.layout('i', 'pack')}(len({value})))")
        item = self._source.fresh("m")
        with self._source.block(f"for {item} in {value}:"):
            self._value(kind.element, item, write, compact=compact)

    def _tags(self, cls: type[Struct], m: str, write: str) -> None:
        line = self._source.line
        known = tagged_fields(cls, self._version)
        if not known:
            with self._source.block(f"if {m}.unknown_tags is None:"):
                line(f"{write}({bytes(1)!r})")
            with self._source.block("else:"):
                line(f"write_tags({write}, None, {m}.unknown_tags)")
            return
        found = self._source.fresh("found")
        line(f"{found} = None")
        for field in sorted(known, key=_tag_of):
            self._tagged(field, m, found)
        with self._source.block(f"if {m}.unknown_tags is not None:"):
            line(f"write_tags({write}, {found}, {m}.unknown_tags)")
        with self._source.block(f"elif {found} is None:"):
            line(f"{write}({bytes(1)!r})")
        with self._source.block("else:"):
            line(f"{write}(SMALL[len({found})])")
            with self._source.block(f"for tag, field in {found}:"):
                line(f"{write}(field)")

    def _tagged(self, field: Field, m: str, found: str) -> None:
        """Generates code that writes a tagged field only if it differs from its default."""
        line = self._source.line
        value, parts, write = (self._source.fresh(stem) for stem in ("v", "parts", "write"))
        line(f"{value} = {m}.{field.name}")
        with self._source.block(f"if {self._differs(field, value)}:"):
            if isinstance(field.type, Fixed):
                head = tag_head(_tag_of(field), struct.calcsize(f">{field.type.code}"))
                line(f"{parts} = {self._source.layout(field.type.code, 'pack')}({value})")
                data = f"{head!r} + {parts}"
            else:
                line(f"{parts} = []")
                line(f"{write} = {parts}.append")
                self._variable(field, m, write)
                line(f"{parts} = b''.join({parts})")
                data = f"tag_head({_tag_of(field)}, len({parts})) + {parts}"
            line(f"{found} = {found} or []")
            line(f"{found}.append(({_tag_of(field)}, {data}))")

    def _differs(self, field: Field, value: str) -> str:
        default = field.options.make_default()
        if isinstance(field.type, Nested) and not field.is_nullable(self._version):
            # An absent tagged struct is None here but a struct of defaults in Kafka: neither is
            # written.
            unsent = self._source.constant("default", field.type.struct())
            return f"{value} is not None and {value} != {unsent}"
        if default is None:
            return f"{value} is not None"
        return f"{value} != {self._source.constant('default', default)}"


def _tag_of(field: Field) -> int:
    tag = field.options.tag
    assert tag is not None
    return tag


def _null(kind: FieldType, *, compact: bool, tagged: bool) -> bytes:
    if isinstance(kind, Nested):
        return NULL_TAGGED_STRUCT if tagged else NULL_STRUCT
    if compact:
        return b"\x00"
    return b"\xff\xff" if isinstance(kind, TextType) else b"\xff\xff\xff\xff"


_SCOPE = {
    "ERRORS": (struct.error, AttributeError, TypeError, ValueError),
    "SMALL": tuple(bytes((value,)) for value in range(128)),
    "encode_text_length": encode_text_length,
    "encode_uvarint": encode_uvarint,
    "pack_long": pack_long,
    "refusal": refusal,
    "tag_head": tag_head,
    "write_tags": write_tags,
}
