"""Declarations and Kafka's table say the same, field by field, in every version."""

from typing import Any

import pytest

from ottla.model import uuid_to_text
from ottla.wire.apis import LISTENERS
from ottla.wire.schema import Message, Struct
from ottla.wire.schema.fields import Field, fields_of
from ottla.wire.schema.types import Array, Blob, Fixed, Nested
from tests.support.kafka.declared_layout import layout_of
from tests.support.kafka.declared_messages import declared_messages
from tests.support.kafka.protocol_classes import table_class
from tests.support.kafka.protocol_table import (
    layouts_by_version,
    message_names,
    read_table,
    squash,
    stable_versions,
)


def structs_of(cls: type[Struct]) -> list[type[Struct]]:
    found = []
    for field in fields_of(cls):
        kind = field.type.element if isinstance(field.type, Array) else field.type
        if isinstance(kind, Nested):
            found += [kind.struct, *structs_of(kind.struct)]
    return found


def default_of(field: Field) -> Any:
    """A field's default, written as the table writes it."""
    default = field.options.make_default()
    if isinstance(field.type, Nested) and (default is not None or _is_optional_by_tag(field)):
        return {}
    if isinstance(field.type, Fixed) and field.type.name == "UUID":
        return uuid_to_text(default)
    return default


def _is_optional_by_tag(field: Field) -> bool:
    nullable = field.options.nullable
    return field.options.tag is not None and nullable is not None and 0 not in nullable


def table_default(field: Field, default: Any) -> Any:
    if isinstance(field.type, Blob) and (default is not None or not field.optional):
        # No bytes are an empty array or an empty buffer in Kafka's classes, no records are null.
        assert default in ("", {}, None)
        return b""
    return default


def test_every_record_and_every_served_api_is_declared() -> None:
    layouts = read_table("layouts")
    expected = {
        name
        for name in message_names()
        if not name.endswith(("RequestData", "ResponseData")) or layouts[name]["key"] in LISTENERS
    }
    assert set(declared_messages()) == expected


@pytest.mark.parametrize("name", declared_messages())
def test_declared_message_equals_the_table_in_every_version(name: str) -> None:
    cls = declared_messages()[name]
    layouts = layouts_by_version(name)
    assert list(cls.stable) == stable_versions(name)
    for version in cls.versions:
        declared = layout_of(cls, version, flexible=version in cls.flexible)
        assert declared == layouts[version], f"{name} version {version}"


@pytest.mark.parametrize("name", declared_messages())
def test_declared_key_and_defaults_equal_the_table(name: str) -> None:
    cls = declared_messages()[name]
    entry = read_table("layouts")[name]
    assert cls.api_key == (entry["key"] if entry["key"] >= 0 else None)
    assert_defaults(cls, entry["defaults"][""])
    for struct in structs_of(cls):
        # A struct whose name is taken by another in its module has its message's name before it.
        short_name = struct.__name__.removeprefix(cls.__name__)
        defaults = entry["defaults"].get(struct.__name__) or entry["defaults"][short_name]
        assert_defaults(struct, defaults)


def assert_defaults(cls: type[Struct], kafkas: dict[str, Any]) -> None:
    expected = {squash(name): default for name, default in kafkas.items()}
    for field in fields_of(cls):
        default = table_default(field, expected[squash(field.name)])
        assert default_of(field) == default, f"{cls.__name__}.{field.name}"


@pytest.mark.parametrize("name", message_names())
def test_class_made_of_the_table_equals_the_table(name: str) -> None:
    cls: type[Message] = table_class(name)
    layouts = layouts_by_version(name)
    assert list(cls.versions) == list(layouts)
    for version, layout in layouts.items():
        assert layout_of(cls, version, flexible=version in cls.flexible) == layout
