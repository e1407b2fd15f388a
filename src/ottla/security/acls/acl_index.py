"""The access control entries of one resource type, found by resource name and by principal.

A name finds its entries in one look-up for the exact name, one for `*`, and one for each length
that a prefix has: there are few lengths, however many prefixes there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeVar

from ottla.security.acls.acl import (
    ANY_NAME,
    ANY_PRINCIPAL,
    AccessControlEntry,
    AclBinding,
    PatternType,
)

Item = TypeVar("Item")

# The entries of one pattern, by principal.
PatternEntries: TypeAlias = Mapping[str, list[AccessControlEntry]]


class AclIndex:
    def __init__(self) -> None:
        self._literals: dict[str, dict[str, list[AccessControlEntry]]] = {}
        self._prefixes: dict[str, dict[str, list[AccessControlEntry]]] = {}
        # How many prefixes have a length.
        self._prefix_lengths: Counter[int] = Counter()
        self._by_principal: dict[str, list[AclBinding]] = {}

    def add(self, binding: AclBinding) -> None:
        pattern, entry = binding
        by_name = self._by_name(pattern.pattern_type)
        if by_name is None:
            return
        if pattern.name not in by_name:
            by_name[pattern.name] = {}
            if by_name is self._prefixes:
                self._prefix_lengths[len(pattern.name)] += 1
        by_name[pattern.name].setdefault(entry.principal, []).append(entry)
        self._by_principal.setdefault(entry.principal, []).append(binding)

    def remove(self, binding: AclBinding) -> None:
        pattern, entry = binding
        by_name = self._by_name(pattern.pattern_type)
        if by_name is None:
            return
        entries = by_name[pattern.name]
        _remove(entries, entry.principal, entry)
        if not entries:
            del by_name[pattern.name]
            if by_name is self._prefixes:
                self._remove_length(len(pattern.name))
        _remove(self._by_principal, entry.principal, binding)

    def entries_of(self, name: str) -> Iterator[PatternEntries]:
        """The entries of each pattern that matches the name."""
        if (entries := self._literals.get(name)) is not None:
            yield entries
        if name != ANY_NAME and (entries := self._literals.get(ANY_NAME)) is not None:
            yield entries
        for length in self._prefix_lengths:
            if length <= len(name) and (entries := self._prefixes.get(name[:length])) is not None:
                yield entries

    def bindings_of(self, principal: str) -> Iterator[AclBinding]:
        """The entries of a principal and of all principals, for any resource of the type."""
        yield from self._by_principal.get(principal, ())
        if principal != ANY_PRINCIPAL:
            yield from self._by_principal.get(ANY_PRINCIPAL, ())

    def _by_name(
        self, pattern_type: PatternType
    ) -> dict[str, dict[str, list[AccessControlEntry]]] | None:
        """None for an unknown pattern type, which matches no resource."""
        if pattern_type is PatternType.LITERAL:
            return self._literals
        return self._prefixes if pattern_type is PatternType.PREFIXED else None

    def _remove_length(self, length: int) -> None:
        self._prefix_lengths[length] -= 1
        if not self._prefix_lengths[length]:
            del self._prefix_lengths[length]


def _remove(lists: dict[str, list[Item]], key: str, item: Item) -> None:
    lists[key].remove(item)
    if not lists[key]:
        del lists[key]
