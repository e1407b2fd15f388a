"""Message classes made of the table's declarations, whether or not source declares them too."""

from functools import cache
from typing import Any, TypeAlias

from ottla.model import uuid_from_text
from ottla.wire import schema
from ottla.wire.schema import Message, Struct, field
from ottla.wire.schema.struct import FieldOptions, StructType
from tests.support.kafka.protocol_table import (
    FieldDeclaration,
    MessageDeclaration,
    StructDeclaration,
    declare,
    layouts_by_version,
)

Structs: TypeAlias = dict[str, StructType]


@cache
def table_class(name: str) -> type[Message]:
    """A message in all versions that Kafka's classes can read, the unstable ones too."""
    declaration = declare(name, layouts_by_version(name))
    structs: Structs = {}
    for struct in declaration.structs:
        structs[struct.name] = StructType(struct.name, (Struct,), _namespace(struct, structs))
    return _message(declaration, structs)


def _message(declaration: MessageDeclaration, structs: Structs) -> type[Message]:
    made = StructType(
        declaration.root.name,
        (Message,),
        _namespace(declaration.root, structs),
        api_key=declaration.api_key,
        versions=declaration.versions,
        flexible=declaration.flexible,
    )
    assert issubclass(made, Message)
    return made


def _namespace(declaration: StructDeclaration, structs: Structs) -> dict[str, Any]:
    annotations = {part.name: _annotation(part, structs) for part in declaration.fields}
    options = {part.name: _options(part, structs) for part in declaration.fields}
    return {"__module__": __name__, "__annotations__": annotations, **options}


def is_optional(part: FieldDeclaration) -> bool:
    return part.nullable != "none" or is_optional_by_tag(part)


def is_optional_by_tag(part: FieldDeclaration) -> bool:
    """Whether None stands for "not sent": a tagged struct that cannot be null on the wire."""
    is_bare_struct = part.is_struct and not part.is_array
    return is_bare_struct and part.tag is not None and part.nullable == "none"


def python_default(part: FieldDeclaration) -> Any:
    """The default of anything but an array or a struct."""
    if part.kind == "Uuid":
        return uuid_from_text(part.default)
    if part.kind in ("Bytes", "Records") and (part.default is not None or part.nullable == "none"):
        # Kafka has no other default for bytes; its class holds null for records that never are.
        return b""
    return part.default


def _annotation(part: FieldDeclaration, structs: Structs) -> Any:
    element: Any = structs[part.kind] if part.is_struct else getattr(schema, part.kind)
    annotation = list[element] if part.is_array else element
    return annotation | None if is_optional(part) else annotation


def _options(part: FieldDeclaration, structs: Structs) -> FieldOptions:
    factory: Any = None
    if part.default is not None and not is_optional_by_tag(part):
        factory = list if part.is_array else structs.get(part.kind)
    made: FieldOptions = field(
        default=python_default(part) if not (part.is_array or part.is_struct) else None,
        factory=factory,
        versions=part.versions,
        nullable=part.nullable if is_optional(part) else None,
        tag=part.tag,
        tagged=part.tagged,
        flexible=part.flexible,
    )
    return made
