"""`acls:`, each item an ACL for each of its operations, in Kafka's terms."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, TypeVar

from ottla.cli.cluster_file.fields import FieldReader
from ottla.cli.cluster_file.mistakes import Place, unknown_name_text
from ottla.cli.cluster_file.yaml_tree import YamlTree
from ottla.security.acls.acl import (
    ANY_HOST,
    CLUSTER_NAME,
    SUPPORTED_OPERATIONS,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourcePattern,
    ResourceType,
)
from ottla.security.principal import parse_principal

E = TypeVar("E", bound=IntEnum)

# The fields that `ottla acls list --json` prints, too.
FIELDS: Final = (
    "resource_type",
    "name",
    "pattern_type",
    "principal",
    "host",
    "operations",
    "permission",
)
_FOR_FILTERS: Final = ("unknown", "any", "match")


def acl_word(value: IntEnum) -> str:
    """`DESCRIBE_CONFIGS` as `describe-configs`."""
    return value.name.lower().replace("_", "-")


def read_acl(reader: FieldReader, tree: YamlTree) -> list[tuple[AclBinding, Place]]:
    """Empty after a mistake."""
    mistakes_before = len(reader.mistakes)
    fields = reader.fields(tree, "an ACL", FIELDS)
    for name in ("resource_type", "principal", "operations"):
        if name not in fields:
            reader.add(tree.place, f"this ACL has no {name}; write it")
    if len(reader.mistakes) > mistakes_before:
        return []

    def text(name: str, default: str) -> str:
        field = fields.get(name)
        found = default if field is None else reader.text(field.value, f"{name} of the ACL")
        return found or default

    def word(kind: type[E], name: str, default: str) -> E | None:
        place = fields[name].place if name in fields else tree.place
        return _word(reader, kind, text(name, default), place)

    resource_type = word(ResourceType, "resource_type", "")
    pattern_type = word(PatternType, "pattern_type", "literal")
    permission = word(Permission, "permission", "allow")
    operations = [
        _word(reader, AclOperation, name, fields["operations"].place)
        for name in reader.names(fields["operations"].value, "operations of the ACL")
    ]
    is_cluster = resource_type is ResourceType.CLUSTER
    name = text("name", CLUSTER_NAME if is_cluster else "")
    if not name:
        reader.add(tree.place, "this ACL has no name; write the resource's name, or '*' for all")
    if is_cluster and name != CLUSTER_NAME:
        reader.add(tree.place, f"the only cluster is {CLUSTER_NAME}; leave name out")
    principal = text("principal", "")
    _check_principal(reader, principal, fields["principal"].place)
    host = text("host", ANY_HOST)
    if len(reader.mistakes) > mistakes_before:
        return []
    assert resource_type is not None
    assert pattern_type is not None
    assert permission is not None
    pattern = ResourcePattern(resource_type, name, pattern_type)
    found = []
    for operation in operations:
        assert operation is not None
        _check_suits(reader, operation, resource_type, fields["operations"].place)
        entry = AccessControlEntry(principal, host, operation, permission)
        found.append((AclBinding(pattern, entry), tree.place))
    return found


def _word(reader: FieldReader, kind: type[E], text: str, place: Place) -> E | None:
    """In any case, with dashes, underscores or nothing between words: DescribeConfigs."""
    known = {acl_word(each): each for each in kind if acl_word(each) not in _FOR_FILTERS}
    for name, each in known.items():
        if _plain(name) == _plain(text):
            return each
    reader.add(place, f"{text!r} is unknown here{unknown_name_text(text, known)}")
    return None


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "")


def _check_principal(reader: FieldReader, text: str, place: Place) -> None:
    try:
        principal = parse_principal(text)
    except ValueError as error:
        reader.add(place, f"principal of the ACL: {error}")
        return
    if not principal.type or not principal.name:
        reader.add(place, f"principal {text!r} lacks a type or a name; write User:NAME")


def _check_suits(
    reader: FieldReader, operation: AclOperation, resource_type: ResourceType, place: Place
) -> None:
    supported = (AclOperation.ALL, *SUPPORTED_OPERATIONS[resource_type])
    if operation not in supported:
        names = ", ".join(map(acl_word, supported))
        reader.add(
            place,
            f"{acl_word(resource_type)} has no operation {acl_word(operation)}; it has {names}",
        )
