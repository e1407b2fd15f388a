"""An Avro schema whose names are resolved. Records may contain themselves, so it is a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

PRIMITIVES: Final = frozenset(
    ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
)


class AvroName(NamedTuple):
    """`space` is empty for a name outside any namespace."""

    space: str
    simple: str

    @property
    def full(self) -> str:
        return f"{self.space}.{self.simple}" if self.space else self.simple

    def within(self, space: str) -> str:
        """The name as a schema in this namespace refers to it."""
        return self.simple if self.space == space else self.full


class AvroPrimitive:
    __slots__ = ("kind", "props")

    def __init__(self, kind: str, props: Mapping[str, Any]) -> None:
        self.kind = kind
        self.props = props


class AvroCollection:
    """An array or a map. `element` is set when it is parsed."""

    __slots__ = ("element", "kind", "props")

    element: AvroType

    def __init__(self, kind: str, props: Mapping[str, Any]) -> None:
        self.kind = kind
        self.props = props


class AvroUnion:
    __slots__ = ("branches",)

    kind = "union"

    def __init__(self, branches: tuple[AvroType, ...]) -> None:
        self.branches = branches


class AvroNamed:
    """What all named types have. `aliases` are full names."""

    __slots__ = ("aliases", "doc", "name", "props")

    kind = ""

    def __init__(self, name: AvroName, aliases: tuple[AvroName, ...], doc: str | None) -> None:
        self.name = name
        self.aliases = aliases
        self.doc = doc
        self.props: Mapping[str, Any] = {}


class AvroFixed(AvroNamed):
    __slots__ = ("size",)

    kind = "fixed"
    size: int


class AvroEnum(AvroNamed):
    __slots__ = ("default", "symbols")

    kind = "enum"
    symbols: tuple[str, ...]
    default: str | None


class AvroRecord(AvroNamed):
    """`kind` is "record" or "error". `fields` are set when they are parsed."""

    __slots__ = ("fields", "kind")

    kind: str
    fields: tuple[AvroField, ...]


AvroType: TypeAlias = (
    "AvroPrimitive | AvroCollection | AvroUnion | AvroFixed | AvroEnum | AvroRecord"
)


class AvroField(NamedTuple):
    """`default` counts only if `has_default`, because null is a default."""

    name: str
    type: AvroType
    doc: str | None
    has_default: bool
    default: Any
    order: str
    aliases: tuple[str, ...]
    props: Mapping[str, Any]
