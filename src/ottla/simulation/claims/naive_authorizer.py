"""Kafka's rules for ACLs, applied to every entry of an image: no index, no cache.

The claims compare the decisions of the brokers with these, so nothing of the broker's authorizer is
used here but the values of entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ottla.security.acls.acl import AclBinding
from ottla.simulation.history.security_events import Need, NeededRight

_EVERYONE: Final = "User:*"
_STAR: Final = "*"
_ALL: Final = "ALL"
_PREFIXED: Final = "PREFIXED"
_ALLOW: Final = "ALLOW"
# Kafka asks for this name first when any resource of a type will do.
_ANY_OTHER_NAME: Final = "hardcode"
# The ALLOW entries that imply another operation.
_IMPLYING: Final = {
    "DESCRIBE": ("READ", "WRITE", "DELETE", "ALTER"),
    "DESCRIBE_CONFIGS": ("ALTER_CONFIGS",),
}


def is_allowed(acls: Iterable[AclBinding], principal: str, host: str, need: Need) -> bool:
    """Whether one of the rights is allowed. Super users are the caller's business."""
    acls = tuple(acls)
    return any(_has_right(acls, principal, host, right) for right in need)


def _has_right(acls: tuple[AclBinding, ...], principal: str, host: str, right: NeededRight) -> bool:
    if right.name is None:
        return _has_right_somewhere(acls, principal, host, right)
    permissions = {
        acl.entry.permission.name
        for acl in _of_client(acls, principal, host, right)
        if _covers(acl, right.name) and _is_for(acl, right.operation.name)
    }
    return permissions == {_ALLOW}


def _has_right_somewhere(
    acls: tuple[AclBinding, ...], principal: str, host: str, right: NeededRight
) -> bool:
    """Whether an entry allows the operation on some resource that no entry denies. Other operations
    imply it only if they are allowed on all resources, as in Kafka."""
    if _has_right(acls, principal, host, right._replace(name=_ANY_OTHER_NAME)):
        return True
    entries = [
        acl
        for acl in _of_client(acls, principal, host, right)
        if acl.entry.operation.name in (_ALL, right.operation.name)
    ]
    denying = [acl for acl in entries if acl.entry.permission.name != _ALLOW]
    return any(
        not any(_covers_pattern(denied, acl) for denied in denying)
        for acl in entries
        if acl.entry.permission.name == _ALLOW
    )


def _of_client(
    acls: tuple[AclBinding, ...], principal: str, host: str, right: NeededRight
) -> Iterator[AclBinding]:
    for acl in acls:
        if (
            acl.pattern.resource_type is right.resource_type
            and acl.entry.principal in (principal, _EVERYONE)
            and acl.entry.host in (host, _STAR)
        ):
            yield acl


def _covers(acl: AclBinding, name: str) -> bool:
    if acl.pattern.pattern_type.name == _PREFIXED:
        return name[: len(acl.pattern.name)] == acl.pattern.name
    return acl.pattern.name in (name, _STAR)


def _covers_pattern(acl: AclBinding, other: AclBinding) -> bool:
    """Whether an entry covers every resource that another entry covers."""
    if acl.pattern.pattern_type.name == _PREFIXED:
        is_all = _is_everything(other)
        return not is_all and other.pattern.name.startswith(acl.pattern.name)
    return _is_everything(acl) or acl.pattern == other.pattern


def _is_everything(acl: AclBinding) -> bool:
    return acl.pattern.name == _STAR and acl.pattern.pattern_type.name != _PREFIXED


def _is_for(acl: AclBinding, operation: str) -> bool:
    held = acl.entry.operation.name
    if held in (_ALL, operation):
        return True
    return acl.entry.permission.name == _ALLOW and held in _IMPLYING.get(operation, ())
