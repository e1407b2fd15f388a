"""Prints the declarations of messages, as a module to begin with.

    .venv/bin/python -m scripts.declare_messages OffsetCommit OffsetFetch > ...

A name is an API's, which stands for its request and its response, or a record's. The facts come
from the table in tests/fixtures/protocol; the module's docstring is left to you. Run the result
through `ruff format`.
"""

import sys
from dataclasses import replace

from ottla.wire import schema
from tests.support.kafka.protocol_classes import is_optional, is_optional_by_tag, python_default
from tests.support.kafka.protocol_table import (
    FieldDeclaration,
    MessageDeclaration,
    StructDeclaration,
    declare,
    message_names,
)

EXTREMES = {2**31 - 1: "2**31 - 1", 2**63 - 1: "2**63 - 1", -(2**31): "-(2**31)"}


def module_source(names: list[str]) -> str:
    messages = [declare(message) for name in names for message in table_names(name)]
    head = f'"""What the API does, and what changed in which version."""\n\n{imports(messages)}'
    return "\n\n\n".join([head, *classes(messages)])


def table_names(name: str) -> list[str]:
    api = [f"{name}RequestData", f"{name}ResponseData"]
    found = [known for known in message_names() if known in api or known in (name, f"{name}Data")]
    if not found:
        raise SystemExit(f"the table has no API and no record named {name}")
    return found


def classes(messages: list[MessageDeclaration]) -> list[str]:
    sources: list[str] = []
    for message in with_distinct_names(messages):
        for struct in message.structs:
            source = class_source(struct, "Struct")
            if source not in sources:
                sources.append(source)
        key = "" if message.api_key is None else f"api_key={message.api_key}, "
        flexible = "" if message.flexible == "none" else f', flexible="{message.flexible}"'
        bases = f'Message, {key}versions="{message.versions}"{flexible}'
        sources.append(class_source(message.root, bases))
    return sources


def with_distinct_names(messages: list[MessageDeclaration]) -> list[MessageDeclaration]:
    """Structs of one name that differ are distinguished by the message that they belong to."""
    by_name: dict[str, set[str]] = {}
    for message in messages:
        for struct in message.structs:
            by_name.setdefault(struct.name, set()).add(with_uses(struct, message))
    ambiguous = {name for name, sources in by_name.items() if len(sources) > 1}
    return [renamed(message, ambiguous) for message in messages]


def with_uses(struct: StructDeclaration, message: MessageDeclaration) -> str:
    """The source of a struct and of all that it uses."""
    used = {field.kind for field in struct.fields if field.is_struct}
    inner = [with_uses(part, message) for part in message.structs if part.name in used]
    return "\n".join([*inner, class_source(struct, "Struct")])


def renamed(message: MessageDeclaration, ambiguous: set[str]) -> MessageDeclaration:
    def rename(struct: StructDeclaration) -> StructDeclaration:
        fields = tuple(replace(field, kind=distinct(field.kind)) for field in struct.fields)
        return StructDeclaration(distinct(struct.name), fields)

    def distinct(name: str) -> str:
        return message.root.name + name if name in ambiguous else name

    return replace(message, root=rename(message.root), structs=tuple(map(rename, message.structs)))


def imports(messages: list[MessageDeclaration]) -> str:
    structs = [struct for message in messages for struct in (message.root, *message.structs)]
    fields = [field for struct in structs for field in struct.fields]
    names = {field.kind for field in fields if not field.is_struct} | {"Message"}
    if any(message.structs for message in messages):
        names.add("Struct")
    if any("field(" in value_source(field) for field in fields):
        names.add("field")
    lines = ["from __future__ import annotations\n"]
    if any(field.kind == "Uuid" and not field.is_array for field in fields):
        lines.append("from ottla.model import ZERO_UUID")
    ordered = sorted(names, key=schema.__all__.index)
    lines.append(f"from ottla.wire.schema import {', '.join(ordered)}")
    return "\n".join(lines)


def class_source(struct: StructDeclaration, bases: str) -> str:
    lines = [f"class {struct.name}({bases}):"]
    lines += [
        f"    {field.name}: {type_source(field)} = {value_source(field)}" for field in struct.fields
    ]
    return "\n".join(lines if struct.fields else [*lines, "    pass"])


def type_source(field: FieldDeclaration) -> str:
    element = f"list[{field.kind}]" if field.is_array else field.kind
    return f"{element} | None" if is_optional(field) else element


def value_source(field: FieldDeclaration) -> str:
    options = []
    if field.versions != "0+":
        options.append(f'versions="{field.versions}"')
    if is_optional(field) and field.nullable != "0+":
        options.append(f'nullable="{field.nullable}"')
    if field.tag is not None:
        options.append(f"tag={field.tag}")
        if field.tagged != "0+":
            options.append(f'tagged="{field.tagged}"')
    if field.flexible != "0+":
        options.append(f'flexible="{field.flexible}"')
    has_factory = field.default is not None and not is_optional_by_tag(field)
    if has_factory and (field.is_array or field.is_struct):
        factory = "list" if field.is_array else field.kind
        return f"field({', '.join([f'factory={factory}', *options])})"
    default = default_source(field)
    return f"field({', '.join([f'default={default}', *options])})" if options else default


def default_source(field: FieldDeclaration) -> str:
    if field.is_array or field.is_struct:
        return "None"
    if field.kind == "Uuid":
        return "ZERO_UUID"
    default = python_default(field)
    is_extreme = type(default) is int and default in EXTREMES
    return EXTREMES[default] if is_extreme else repr(default)


if __name__ == "__main__":
    print(module_source(sys.argv[1:]))
