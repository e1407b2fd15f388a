"""Compiles one version of a message into a function that translates the names in it.

A translator has a method for each kind of name that a field can declare (types.py). The function
calls it for every field of the version that names something, in place. An element of an array whose
name raises `NotVisibleError` is removed from the array: a response never has names that its client
must not see. Outside of an array the error reaches the caller.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, Protocol, TypeAlias

from ottla.model import Buffer, Uuid
from ottla.wire.schema.fields import Field, fields_of
from ottla.wire.schema.message import Message
from ottla.wire.schema.source import SourceText
from ottla.wire.schema.struct import Struct
from ottla.wire.schema.types import Array, Blob, FieldType, Fixed, Names, Nested, TextType


class NotVisibleError(Exception):
    """A name that does not belong to the client's tenant."""


class NameTranslator(Protocol):
    """Each method returns the name on the other side. `kind` is the value of the field that says
    what the name is for; None if the message has no such field, as FindCoordinator responses."""

    def topic(self, name: str) -> str: ...
    def topic_id(self, topic_id: Uuid) -> Uuid: ...
    def topic_pattern(self, pattern: str) -> str: ...
    def group(self, name: str) -> str: ...
    def transactional_id(self, name: str) -> str: ...
    def transactional_id_pattern(self, pattern: str) -> str: ...
    def user(self, name: str) -> str: ...
    def principal(self, text: str) -> str: ...
    def config_resource(self, name: str, kind: int | None) -> str: ...
    def acl_resource(self, name: str, kind: int | None) -> str: ...
    def coordinator_key(self, name: str, kind: int | None) -> str: ...
    def quota_entity(self, name: str, kind: str | None) -> str: ...
    def message(self, text: str) -> str: ...
    def subscription(self, data: Buffer) -> Buffer: ...
    def assignment(self, data: Buffer) -> Buffer: ...


Renamer: TypeAlias = Callable[[Any, NameTranslator], None]

# The fields that say what a name is for, in the same struct or in the message.
_KIND_FIELDS: Final = ("resource_type", "resource_type_filter", "key_type", "entity_type")
_WITH_KIND: Final = frozenset(
    {Names.CONFIG_RESOURCE, Names.ACL_RESOURCE, Names.COORDINATOR_KEY, Names.QUOTA_ENTITY}
)


@cache
def renamer_of(cls: type[Message], version: int) -> Renamer | None:
    """None if the version has no field that names anything."""
    if not _has_names(cls, version):
        return None
    source = SourceText({"NOT_VISIBLE": NotVisibleError})
    with source.block("def rename(m, names):"):
        _RenamerText(source, version).struct(cls, "m", None)
    renamer: Renamer = source.make("rename", f"names of {cls.__name__} version {version}")
    return renamer


def names_of(kind: FieldType) -> Names | None:
    """What a field of this type names; None if a text does not say."""
    if isinstance(kind, Array):
        return names_of(kind.element)
    return Names.NOTHING if isinstance(kind, Nested) else kind.names


class _RenamerText:
    """Generates the code for one version. `m` names refer to structs."""

    def __init__(self, source: SourceText, version: int) -> None:
        self._source = source
        self._version = version

    def struct(self, cls: type[Struct], m: str, kind: str | None) -> None:
        """`kind` is an expression for what resources are, from an enclosing struct."""
        fields = _fields(cls, self._version)
        own = [each.name for each in fields_of(cls) if each.name in _KIND_FIELDS]
        kind = f"{m}.{own[0]}" if own else kind
        for field in fields:
            if _names_something(field.type, self._version):
                self._field(field, f"{m}.{field.name}", kind)

    def _field(self, field: Field, value: str, kind: str | None) -> None:
        source = self._source
        with source.block(f"if {value} is not None:"):
            if isinstance(field.type, Array):
                self._array(field.type, value, kind)
            elif isinstance(field.type, Nested):
                self.struct(field.type.struct, value, kind)
            else:
                source.line(f"{value} = {_translated(field.type, value, kind)}")

    def _array(self, array: Array, value: str, kind: str | None) -> None:
        source = self._source
        kept, each = source.fresh("kept"), source.fresh("each")
        source.line(f"{kept} = []")
        with source.block(f"for {each} in {value}:"):
            with source.block("try:"):
                if isinstance(array.element, Nested):
                    self.struct(array.element.struct, each, kind)
                else:
                    source.line(f"{each} = {_translated(array.element, each, kind)}")
            with source.block("except NOT_VISIBLE:"):
                source.line("continue")
            source.line(f"{kept}.append({each})")
        source.line(f"{value} = {kept}")


def _translated(kind: FieldType, value: str, kind_field: str | None) -> str:
    names = names_of(kind)
    assert names is not None, "a field of a request or response must say what it names"
    if names not in _WITH_KIND:
        return f"names.{names.value}({value})"
    return f"names.{names.value}({value}, {kind_field})"


def _fields(cls: type[Struct], version: int) -> list[Field]:
    return [field for field in fields_of(cls) if version in field.options.versions]


def _has_names(cls: type[Struct], version: int) -> bool:
    return any(_names_something(field.type, version) for field in _fields(cls, version))


def _names_something(kind: FieldType, version: int) -> bool:
    if isinstance(kind, Array):
        return _names_something(kind.element, version)
    if isinstance(kind, Nested):
        return _has_names(kind.struct, version)
    assert isinstance(kind, Fixed | TextType | Blob)
    return kind.names is not Names.NOTHING
