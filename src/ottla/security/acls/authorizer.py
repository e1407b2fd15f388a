"""Decides by access control entries, with the rules of Kafka's StandardAuthorizer (KIP-801).

1. A super user may do anything.
2. Of the entries whose pattern matches the resource, those for the principal, the host and the
   operation apply. If one that applies denies, the operation is denied; else if one allows, it is
   allowed.
3. If none applies, the operation is denied, unless no pattern matches the resource at all and
   `allow.everyone.if.no.acl.found` is true.

A principal without a decision is denied: in doubt, refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ottla.model import Uuid
from ottla.security.acls.acl import (
    ANY_NAME,
    ANY_PRINCIPAL,
    AclBinding,
    AclOperation,
    PatternType,
    Permission,
    ResourceType,
)
from ottla.security.acls.acl_index import AclIndex
from ottla.security.principal import Principal
from ottla.wire.stored.cluster_metadata.security import AccessControlEntryRecord

# A name that no operator uses, which stands for any name without entries of its own.
_ANY_OTHER_NAME = "hardcode"


class StandardAuthorizer:
    """Follows the entries of a metadata image. `version` changes with them."""

    def __init__(
        self,
        *,
        super_users: Iterable[str] = (),
        allows_everyone_if_no_acl_found: bool = False,
    ) -> None:
        """`super_users` are texts such as `User:admin`."""
        self.version = 0
        # The decisions that sessions got and have cached, by outcome. Quiet ones are not counted.
        self.decisions = {True: 0, False: 0}
        self._is_loaded = True
        self._super_users = frozenset(super_users)
        self._is_allowed_without_acls = allows_everyone_if_no_acl_found
        self._records: dict[Uuid, AccessControlEntryRecord] = {}
        self._indexes = {resource_type: AclIndex() for resource_type in ResourceType}

    def __len__(self) -> int:
        return len(self._records)

    def unload(self) -> None:
        """Only super users are allowed anything until `follow` is called: without all entries, a
        denial may be missing."""
        self._is_loaded = False
        self.version += 1

    def follow(self, records: Mapping[Uuid, AccessControlEntryRecord]) -> None:
        """Makes the entries of an image the current ones."""
        if not self._is_loaded:
            self._is_loaded = True
            self.version += 1
        for acl_id in self._records.keys() - records.keys():
            self.remove(acl_id)
        for acl_id, record in records.items():
            if self._records.get(acl_id) is not record:
                self.add(record)

    def add(self, record: AccessControlEntryRecord) -> None:
        """Adds an entry, or replaces the one with the same id."""
        if record.id in self._records:
            self.remove(record.id)
        self._records[record.id] = record
        binding = AclBinding.of_record(record)
        self._indexes[binding.pattern.resource_type].add(binding)
        self.version += 1

    def remove(self, acl_id: Uuid) -> None:
        binding = AclBinding.of_record(self._records.pop(acl_id))
        self._indexes[binding.pattern.resource_type].remove(binding)
        self.version += 1

    def is_super_user(self, principal: Principal) -> bool:
        return str(principal) in self._super_users

    def allows(
        self,
        principal: Principal,
        host: str,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        user = str(principal)
        if user in self._super_users:
            return True
        if not self._is_loaded:
            return False
        has_acls = is_allowed = False
        for entries in self._indexes[resource_type].entries_of(name):
            has_acls = True
            for each in (user, ANY_PRINCIPAL):
                for entry in entries.get(each, ()):
                    if entry.applies(host, operation):
                        if entry.permission is not Permission.ALLOW:
                            return False
                        is_allowed = True
        return is_allowed or (self._is_allowed_without_acls and not has_acls)

    def allows_any(
        self, principal: Principal, host: str, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        """Whether the operation is allowed on at least one resource of the type, which need not
        exist. As in Kafka, other operations imply it only if they are allowed on all."""
        if self.allows(principal, host, operation, resource_type, _ANY_OTHER_NAME):
            return True
        allowed: set[tuple[PatternType, str]] = set()
        denied: set[tuple[PatternType, str]] = set()
        for pattern, entry in self._indexes[resource_type].bindings_of(str(principal)):
            if entry.operation in (operation, AclOperation.ALL) and entry.applies(host, operation):
                found = allowed if entry.permission is Permission.ALLOW else denied
                found.add((pattern.pattern_type, pattern.name))
        everything = (PatternType.LITERAL, ANY_NAME)
        if everything in denied:
            return False
        return everything in allowed or any(not _is_denied(each, denied) for each in allowed)


def _is_denied(pattern: tuple[PatternType, str], denied: set[tuple[PatternType, str]]) -> bool:
    """Whether entries deny all resources of a pattern. A denied name leaves a prefix others."""
    if pattern in denied:
        return True
    name = pattern[1]
    lengths = range(1, len(name) + 1)
    return any((PatternType.PREFIXED, name[:length]) in denied for length in lengths)
