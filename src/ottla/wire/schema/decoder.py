"""Compiles one version of a message into a function that decodes it from a buffer.

The generated code follows the message's layout, as the encoder's does. Lengths and counts are
untrusted: each is compared with the remaining bytes before anything is allocated. Any client may
send a request, and an object takes fifty times the bytes of its smallest encoding, so the number of
elements in a request is limited.
"""

from __future__ import annotations

import struct

from ottla.model import Buffer
from ottla.wire.errors import ProtocolError
from ottla.wire.schema.arrays import SHORT, short_unpackers, unpack_long
from ottla.wire.schema.fields import (
    Field,
    absent_fields,
    plain_fields,
    size_min,
    tagged_fields,
)
from ottla.wire.schema.layout import Decoder, VersionedStruct
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
from ottla.wire.varint import read_uvarint

# Slightly more than the maximum number of partitions in a Kafka cluster.
REQUEST_ELEMENTS_MAX = 250_000


def compile_decoder(cls: type[VersionedStruct], version: int) -> Decoder:
    title = f"{cls.__name__} version {version}"
    source = SourceText(_SCOPE | {"title": title})
    with source.block("def decode(data, p):"):
        with source.block("try:"):
            source.line("end = len(data)")
            text = _DecoderText(
                source, version, flexible=version in cls.flexible, counted=_is_request(cls)
            )
            if _is_request(cls):
                source.line(f"left = {REQUEST_ELEMENTS_MAX}")
            text.struct(cls, "m")
            source.line("return m, p")
        with source.block("except ERRORS as error:"):
            source.line("raise refusal(title, error) from error")
    decoder: Decoder = source.make("decode", f"decoder of {title}")
    return decoder


def _is_request(cls: type[VersionedStruct]) -> bool:
    """True for request headers too."""
    return "Request" in cls.__name__


def refusal(title: str, error: Exception) -> ProtocolError:
    if isinstance(error, struct.error | IndexError):
        return ProtocolError(f"{title} is cut short: {error}")
    return ProtocolError(f"malformed {title}: {error}")


class _MalformedError(Exception):
    """Raised by generated code, without the message's name, which the caller adds."""


def _overrun(field: str, length: int, left: int) -> _MalformedError:
    return _MalformedError(
        f"{field} claims {length} elements or bytes, more than fit in {left} bytes"
    )


def _crowded(field: str) -> _MalformedError:
    return _MalformedError(
        f"up to {field} it has more than {REQUEST_ELEMENTS_MAX} elements; send smaller requests"
    )


def _overlong(length: int) -> _MalformedError:
    return _MalformedError(f"a string claims {length} bytes; {TEXT_BYTES_MAX} are allowed")


def _null(field: str) -> _MalformedError:
    return _MalformedError(f"{field} is null, which this version does not allow")


def read_tag(data: Buffer, position: int, end: int, previous: int) -> tuple[int, int, int]:
    """The tag of the next tagged field, and the start and end of its bytes."""
    tag, position = read_uvarint(data, position)
    size, position = read_uvarint(data, position)
    if tag <= previous:
        raise _MalformedError(f"tag {tag} follows tag {previous}")
    if size > end - position:
        raise _overrun(f"tag {tag}", size, end - position)
    return tag, position, position + size


def tag_size_error(field: str, end: int, stop: int) -> _MalformedError:
    return _MalformedError(f"tagged field {field} ends at byte {end}, its declared size at {stop}")


class _DecoderText:
    """Generates the code for one version. `data` is the buffer, `p` the position, `end` its end."""

    def __init__(self, source: SourceText, version: int, *, flexible: bool, counted: bool) -> None:
        self._source = source
        self._version = version
        self._flexible = flexible
        self._counted = counted

    def struct(self, cls: type[Struct], m: str) -> None:
        self._source.line(f"{m} = new({self._source.constant('cls', cls)})")
        self._defaults([*absent_fields(cls, self._version)], m)
        run: list[Field] = []
        for field in plain_fields(cls, self._version):
            if isinstance(field.type, Fixed):
                run.append(field)
                continue
            self._fixed_run(run, m)
            run = []
            self._variable(field, m)
        self._fixed_run(run, m)
        if self._flexible:
            self._tags(cls, m)
        else:
            self._source.line(f"{m}.unknown_tags = None")

    def _defaults(self, absent: list[Field], m: str) -> None:
        for field in absent:
            options = field.options
            if options.factory is not None:
                value = f"{self._source.constant('make', options.factory)}()"
            else:
                value = self._source.constant("default", options.default)
            self._source.line(f"{m}.{field.name} = {value}")

    def _fixed_run(self, run: list[Field], m: str) -> None:
        if not run:
            return
        kinds = [field.type for field in run if isinstance(field.type, Fixed)]
        unpack = self._source.layout("".join(kind.code for kind in kinds), "unpack_from")
        targets = "".join(f"{m}.{field.name}, " for field in run)
        self._source.line(f"{targets}= {unpack}(data, p)")
        self._source.line(f"p += {sum(kind.size for kind in kinds)}")

    def _variable(self, field: Field, m: str) -> None:
        compact = self._flexible and self._version in field.options.flexible
        nullable = field.is_nullable(self._version)
        target = f"{m}.{field.name}"
        if isinstance(field.type, Nested):
            tagged = field.is_tagged(self._version)
            self._nested(field.type, target, nullable=nullable, tagged=tagged)
            return
        null = f"{target} = None" if nullable else f"raise null({field.name!r})"
        self._length(field.type, compact=compact)
        with self._source.block("if n < 0:"):
            self._source.line(null)
        with self._source.block("else:"):
            if isinstance(field.type, Array):
                self._array(field.type, target, field.name, compact=compact)
            else:
                self._sized(field.type, target, field.name)

    def _nested(self, kind: Nested, target: str, *, nullable: bool, tagged: bool) -> None:
        inner = self._source.fresh("m")
        if not nullable:
            self.struct(kind.struct, inner)
            self._source.line(f"{target} = {inner}")
            return
        self._source.line("n = data[p]")
        self._source.line("p += 1")
        with self._source.block("if n == 0:" if tagged else "if n > 127:"):
            self._source.line(f"{target} = None")
        with self._source.block("else:"):
            self.struct(kind.struct, inner)
            self._source.line(f"{target} = {inner}")

    def _length(self, kind: FieldType, *, compact: bool) -> None:
        """Generates code that puts the length or count into `n`, negative for null."""
        line = self._source.line
        if compact:
            line("n = data[p] - 1")
            with self._source.block("if n < 127:"):
                line("p += 1")
            with self._source.block("else:"):
                line("n, p = read_uvarint(data, p)")
                line("n -= 1")
                if isinstance(kind, TextType):
                    with self._source.block(f"if n > {TEXT_BYTES_MAX}:"):
                        line("raise overlong(n)")
        else:
            code, size = ("h", 2) if isinstance(kind, TextType) else ("i", 4)
            line(f"n, = {self._source.layout(code, 'unpack_from')}(data, p)")
            line(f"p += {size}")

    def _sized(self, kind: FieldType, target: str, name: str) -> None:
        line = self._source.line
        line("q = p + n")
        with self._source.block("if q > end:"):
            line(f"raise overrun({name!r}, n, end - p)")
        if isinstance(kind, TextType):
            line(f"{target} = str(data[p:q], 'utf-8')")
        elif isinstance(kind, Blob) and kind.records:
            line(f"{target} = memoryview(data)[p:q]")
        else:
            line(f"{target} = bytes(data[p:q])")
        line("p = q")

    def _array(self, kind: Array, target: str, name: str, *, compact: bool) -> None:
        line, element = self._source.line, kind.element
        smallest = max(1, size_min(element, self._version, flexible=self._flexible))
        with self._source.block(f"if n * {smallest} > end - p:"):
            line(f"raise overrun({name!r}, n, end - p)")
        self._count("n", name)
        if isinstance(element, Fixed):
            unpackers = self._source.constant("unpack", short_unpackers(element.code))
            line(
                f"{target} = list({unpackers}[n](data, p) if n < {SHORT}"
                f" else unpack_long({element.code!r}, n, data, p))"
            )
            line(f"p += n * {element.size}")
            return
        items, append, item = (self._source.fresh(stem) for stem in ("items", "append", "m"))
        line(f"{target} = {items} = []")
        line(f"{append} = {items}.append")
        with self._source.block("for _ in range(n):"):
            if isinstance(element, Nested):
                self.struct(element.struct, item)
            else:
                self._length(element, compact=compact)
                with self._source.block("if n < 0:"):
                    line(f"raise null({name!r})")
                self._sized(element, item, name)
            line(f"{append}({item})")

    def _count(self, count: str, name: str) -> None:
        if self._counted:
            self._source.line(f"left -= {count}")
            with self._source.block("if left < 0:"):
                self._source.line(f"raise crowded({name!r})")

    def _tags(self, cls: type[Struct], m: str) -> None:
        line = self._source.line
        known = tagged_fields(cls, self._version)
        self._defaults(known, m)
        line(f"{m}.unknown_tags = None")
        with self._source.block("if data[p] == 0:"):
            line("p += 1")
        with self._source.block("else:"):
            count, tag, stop = (self._source.fresh(stem) for stem in ("count", "tag", "stop"))
            line(f"{count}, p = read_uvarint(data, p)")
            self._count(count, "tags")
            line(f"{tag} = -1")
            with self._source.block(f"for _ in range({count}):"):
                line(f"{tag}, p, {stop} = read_tag(data, p, end, {tag})")
                for field in known:
                    with self._source.block(f"if {tag} == {field.options.tag}:"):
                        self._tagged(field, m, stop)
                        line("continue")
                with self._source.block(f"if {m}.unknown_tags is None:"):
                    line(f"{m}.unknown_tags = {{}}")
                line(f"{m}.unknown_tags[{tag}] = bytes(data[p:{stop}])")
                line(f"p = {stop}")

    def _tagged(self, field: Field, m: str, stop: str) -> None:
        if isinstance(field.type, Fixed):
            self._fixed_run([field], m)
        else:
            self._variable(field, m)
        with self._source.block(f"if p != {stop}:"):
            self._source.line(f"raise tag_size_error({field.name!r}, p, {stop})")


_SCOPE = {
    "ERRORS": (struct.error, IndexError, UnicodeDecodeError, _MalformedError),
    "crowded": _crowded,
    "new": object.__new__,
    "null": _null,
    "overlong": _overlong,
    "overrun": _overrun,
    "read_tag": read_tag,
    "read_uvarint": read_uvarint,
    "refusal": refusal,
    "tag_size_error": tag_size_error,
    "unpack_long": unpack_long,
}
