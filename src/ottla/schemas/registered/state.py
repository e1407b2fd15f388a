"""What all records so far say: subjects, versions, ids, settings.

`apply` is the only way to change it, with the records in the order of the topic. Everything that a
request looks up is indexed. Owned by the event loop.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ottla.schemas.registered.records import (
    Change,
    ConfigChanged,
    ContextChanged,
    IdsUsed,
    ModeChanged,
    SchemaRemoved,
    SchemaWritten,
    SubjectCleared,
    SubjectDeleted,
)
from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.subject_name import DEFAULT_CONTEXT, SubjectName, beside


class RegistryState:
    def __init__(self) -> None:
        # Increases with each record, so that what is derived from the state can be kept.
        self.changes = 0
        self.configs: dict[str | None, Mapping[str, Any]] = {}
        self.modes: dict[str | None, str] = {}
        self.highest_ids: dict[str, int] = {}
        self._contexts: set[str] = set()
        self._subjects: dict[str, dict[int, SchemaVersion]] = {}
        self._by_id: dict[tuple[str, int], dict[tuple[str, int], SchemaVersion]] = {}
        self._by_digest: dict[bytes, dict[str, int]] = defaultdict(dict)
        self._references: dict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)

    # ---- changes

    def apply(self, change: Change) -> None:
        self.changes += 1
        if isinstance(change, SchemaWritten):
            self._write(change.version)
        elif isinstance(change, SchemaRemoved):
            self._remove(change.subject, change.version)
        elif isinstance(change, SubjectDeleted):
            for version in list(self._subjects.get(change.subject, {}).values()):
                if version.version <= change.version and not version.is_deleted:
                    self._write(version._replace(is_deleted=True))
        elif isinstance(change, SubjectCleared):
            self._clear(change.subject)
        elif isinstance(change, ConfigChanged):
            _put(self.configs, change.subject, change.config)
        elif isinstance(change, ModeChanged):
            _put(self.modes, change.subject, change.mode)
        elif isinstance(change, ContextChanged):
            (self._contexts.add if change.exists else self._contexts.discard)(change.context)
        elif isinstance(change, IdsUsed):
            for context, highest in change.highest.items():
                self._use_id(context, highest)

    def _write(self, version: SchemaVersion) -> None:
        self._remove(version.subject, version.version)
        context = SubjectName.parse(version.subject).context
        key = (version.subject, version.version)
        self._subjects.setdefault(version.subject, {})[version.version] = version
        self._by_id.setdefault((context, version.id), {})[key] = version
        self._by_digest[version.digest][context] = version.id
        self._use_id(context, version.id)
        if context != DEFAULT_CONTEXT:
            self._contexts.add(context)
        for reference in version.schema.references:
            target = (beside(version.subject, reference.subject), reference.version)
            self._references[target].add(key)

    def _remove(self, subject: str, number: int) -> None:
        version = self._subjects.get(subject, {}).pop(number, None)
        if version is None:
            return
        if not self._subjects[subject]:
            del self._subjects[subject]
        context = SubjectName.parse(subject).context
        with_id = self._by_id[context, version.id]
        del with_id[subject, number]
        if not with_id:
            del self._by_id[context, version.id]
            if self._by_digest[version.digest].get(context) == version.id:
                del self._by_digest[version.digest][context]
            if not self._by_digest[version.digest]:
                del self._by_digest[version.digest]
        for reference in version.schema.references:
            target = (beside(subject, reference.subject), reference.version)
            self._references[target].discard((subject, number))
            if not self._references[target]:
                del self._references[target]

    def _clear(self, subject: str | None) -> None:
        for name in list(self._subjects):
            if subject is None or matches_subject(subject, name):
                for version in list(self._subjects[name].values()):
                    if version.is_deleted:
                        self._remove(name, version.version)

    def _use_id(self, context: str, id_: int) -> None:
        self.highest_ids[context] = max(self.highest_ids.get(context, 0), id_)

    # ---- versions

    def versions(self, subject: str) -> list[SchemaVersion]:
        """All, in order, those that are deleted included."""
        found = self._subjects.get(subject, {})
        return [found[number] for number in sorted(found)]

    def version(self, subject: str, number: int) -> SchemaVersion | None:
        return self._subjects.get(subject, {}).get(number)

    def latest(self, subject: str, *, with_deleted: bool = False) -> SchemaVersion | None:
        found = self._subjects.get(subject, {})
        numbers = [number for number, each in found.items() if with_deleted or not each.is_deleted]
        return found[max(numbers)] if numbers else None

    def has_subject(self, subject: str, *, with_deleted: bool) -> bool:
        found = self._subjects.get(subject, {}).values()
        return any(with_deleted or not each.is_deleted for each in found)

    def subjects(self) -> Iterator[str]:
        yield from self._subjects

    def count_versions(self) -> dict[bool, int]:
        """By whether they are deleted."""
        counts = {False: 0, True: 0}
        for versions in self._subjects.values():
            for version in versions.values():
                counts[version.is_deleted] += 1
        return counts

    @property
    def contexts(self) -> list[str]:
        return [DEFAULT_CONTEXT, *sorted(self._contexts - {DEFAULT_CONTEXT})]

    def has_context(self, context: str) -> bool:
        return context == DEFAULT_CONTEXT or context in self._contexts

    # ---- ids

    def with_id(self, context: str, id_: int) -> list[SchemaVersion]:
        """The versions that have the id, in the order of subjects and versions."""
        found = self._by_id.get((context, id_), {})
        return [found[key] for key in sorted(found)]

    def any_with_id(self, context: str, id_: int) -> SchemaVersion | None:
        return next(iter(self._by_id.get((context, id_), {}).values()), None)

    def id_of(self, context: str, digest: bytes) -> int | None:
        return self._by_digest[digest].get(context) if digest in self._by_digest else None

    def ids_of_guid(self, digest: bytes) -> Mapping[str, int]:
        return self._by_digest.get(digest, {})

    # ---- references

    def referencing(self, subject: str, number: int, *, with_deleted: bool) -> list[SchemaVersion]:
        keys = self._references.get((subject, number), set())
        found = [self._subjects[name][each] for name, each in sorted(keys)]
        return [each for each in found if with_deleted or not each.is_deleted]


def matches_subject(scope: str, subject: str) -> bool:
    """Whether a subject is the scope, or in the context that the scope names (`:.context:`)."""
    name = SubjectName.parse(scope)
    if name.subject:
        return scope == subject
    return SubjectName.parse(subject).context == name.context


def _put(values: dict[Any, Any], key: Any, value: Any) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value
