"""Compiles a response class into a function that collects the error codes of a response."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from ottla.wire.schema.fields import fields_of
from ottla.wire.schema.message import Message
from ottla.wire.schema.source import SourceText
from ottla.wire.schema.struct import Struct
from ottla.wire.schema.types import Array, FieldType, Nested

_ERROR_CODE: Final = "error_code"

ErrorCodes: TypeAlias = Callable[[Any], tuple[int, ...]]


@cache
def error_codes_of(response: type[Message]) -> ErrorCodes:
    """A function that returns all error codes other than NONE in a response of this class, those of
    its topics, partitions and other parts included."""
    source = SourceText({})
    with source.block("def error_codes(m):"):
        # Nearly always it stays so, and nothing is made.
        source.line("found = ()")
        _add_codes(source, response, "m")
        source.line("return found")
    made: ErrorCodes = source.make("error_codes", f"error codes of {response.__name__}")
    return made


def _add_codes(source: SourceText, struct: type[Struct], name: str) -> None:
    for field in fields_of(struct):
        value = f"{name}.{field.name}"
        if field.name == _ERROR_CODE:
            with source.block(f"if {value}:"):
                source.line(f"found += ({value},)")
        elif (nested := _nested_in(field.type)) is None or not _has_codes(nested):
            continue
        elif isinstance(field.type, Array):
            each = source.fresh("each")
            with source.block(f"for {each} in {value} or ():"):
                _add_codes(source, nested, each)
        else:
            with source.block(f"if {value} is not None:"):
                _add_codes(source, nested, value)


def _has_codes(struct: type[Struct]) -> bool:
    return any(
        field.name == _ERROR_CODE
        or ((nested := _nested_in(field.type)) is not None and _has_codes(nested))
        for field in fields_of(struct)
    )


def _nested_in(field_type: FieldType) -> type[Struct] | None:
    if isinstance(field_type, Array):
        return _nested_in(field_type.element)
    return field_type.struct if isinstance(field_type, Nested) else None
