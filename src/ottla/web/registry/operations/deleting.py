"""Deletes versions, subjects and contexts: softly first, then permanently.

What is deleted softly can be found with `deleted=true` and keeps its id. A version that another
schema references is not deleted.
"""

from __future__ import annotations

from ottla.schemas.registered.records import (
    Change,
    ConfigChanged,
    ContextChanged,
    IdsUsed,
    ModeChanged,
    SchemaRemoved,
    SchemaWritten,
    SubjectDeleted,
)
from ottla.schemas.registered.references import LATEST_VERSION
from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.state import RegistryState, matches_subject
from ottla.schemas.registered.subject_name import SubjectName
from ottla.web.registry.errors import (
    context_not_empty,
    reference_exists,
    subject_not_found,
    subject_not_soft_deleted,
    subject_soft_deleted,
    version_not_found,
    version_not_soft_deleted,
    version_soft_deleted,
)
from ottla.web.registry.operations.looking_up import version_in
from ottla.web.registry.operations.writes import RegistryWrites, check_writable


class Deleting:
    def __init__(self, writes: RegistryWrites) -> None:
        self._writes = writes
        self._state = writes.state

    async def delete_version(self, subject: str, number: int, *, permanently: bool) -> int:
        """Returns the number. Raises HttpProblem."""
        async with self._writes.exclusively([subject]):
            state = self._state
            version = self._deletable(subject, number, permanently=permanently)
            check_writable(state, subject)
            self._check_references(version, with_deleted=permanently)
            if not permanently:
                deleted = version._replace(is_deleted=True)
                await self._writes.append([SchemaWritten(deleted)])
                return version.version
            if not version.is_deleted:
                raise version_not_soft_deleted(subject, version.version)
            changes: list[Change] = [SchemaRemoved(subject, version.version)]
            if len(state.versions(subject)) == 1:
                changes += self._settings_of(subject)
            await self._writes.append([*changes, *self._used_ids([version])])
            return version.version

    async def delete_subject(self, subject: str, *, permanently: bool) -> list[int]:
        """Returns the numbers of the versions. Raises HttpProblem."""
        async with self._writes.exclusively([subject]):
            state = self._state
            if not state.has_subject(subject, with_deleted=True):
                raise subject_not_found(subject)
            if not permanently and not state.has_subject(subject, with_deleted=False):
                raise subject_soft_deleted(subject)
            check_writable(state, subject)
            versions = [
                each for each in state.versions(subject) if permanently or not each.is_deleted
            ]
            for version in versions:
                self._check_references(version, with_deleted=permanently, besides=subject)
                if permanently and not version.is_deleted:
                    raise subject_not_soft_deleted(subject)
            if permanently:
                changes: list[Change] = [
                    SchemaRemoved(subject, each.version) for each in reversed(versions)
                ]
                changes += self._settings_of(subject)
                changes += self._used_ids(versions)
            else:
                changes = [SubjectDeleted(subject, versions[-1].version)]
            await self._writes.append(changes)
            return [each.version for each in versions]

    async def delete_context(self, context: str) -> None:
        """Raises HttpProblem 42211 if it has subjects, deleted ones included."""
        scope = f":{context}:"
        async with self._writes.exclusively([scope]):
            if any(matches_subject(scope, each) for each in self._state.subjects()):
                raise context_not_empty(scope)
            await self._writes.append([ContextChanged(context, exists=False)])

    def _deletable(self, subject: str, number: int, *, permanently: bool) -> SchemaVersion:
        state = self._state
        if not state.has_subject(subject, with_deleted=True):
            raise subject_not_found(subject)
        found = version_in(state, subject, number, with_deleted=True)
        if number == LATEST_VERSION and not permanently:
            found = version_in(state, subject, number, with_deleted=False) or found
        if found is None:
            raise version_not_found(number)
        if found.is_deleted and not permanently:
            raise version_soft_deleted(subject, found.version)
        return found

    def _check_references(
        self, version: SchemaVersion, *, with_deleted: bool, besides: str | None = None
    ) -> None:
        """Versions of the subject that is deleted as a whole do not count."""
        referencing = self._state.referencing(
            version.subject, version.version, with_deleted=with_deleted
        )
        if any(each.subject != besides for each in referencing):
            raise reference_exists(version.subject, version.version)

    def _settings_of(self, subject: str) -> list[Change]:
        changes: list[Change] = []
        if subject in self._state.configs:
            changes.append(ConfigChanged(subject, None))
        if subject in self._state.modes:
            changes.append(ModeChanged(subject, None))
        return changes

    def _used_ids(self, versions: list[SchemaVersion]) -> list[Change]:
        """Compaction removes what was deleted, and with it the highest id may be forgotten."""
        return used_ids(self._state, versions)


def used_ids(state: RegistryState, versions: list[SchemaVersion]) -> list[Change]:
    highest = state.highest_ids
    for version in versions:
        context = SubjectName.parse(version.subject).context
        if version.id == highest.get(context):
            return [IdsUsed(dict(highest))]
    return []
