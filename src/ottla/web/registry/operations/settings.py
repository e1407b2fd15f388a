"""Changes configs and modes, of a subject, a context or all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ottla.schemas import CompatibilityLevel
from ottla.schemas.registered.records import (
    Change,
    ConfigChanged,
    ModeChanged,
    SchemaRemoved,
    SubjectCleared,
)
from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.state import matches_subject
from ottla.schemas.registered.subject_name import GLOBAL_CONTEXT, SubjectName
from ottla.web.registry.errors import (
    invalid_level,
    invalid_mode,
    not_permitted,
    reference_exists,
    subject_not_found,
)
from ottla.web.registry.model.settings_in_scope import (
    MODES,
    mode_in_scope,
    own_config,
    own_mode,
)
from ottla.web.registry.operations.deleting import used_ids
from ottla.web.registry.operations.requests import ConfigBody, check_rule_set
from ottla.web.registry.operations.writes import RegistryWrites, check_writable


class ChangingSettings:
    """A subject of None stands for the global settings."""

    def __init__(self, writes: RegistryWrites) -> None:
        self._writes = writes
        self._state = writes.state

    async def put_config(self, subject: str | None, body: ConfigBody) -> Mapping[str, Any]:
        """Returns the config as requests have it. Raises HttpProblem."""
        members = body.members()
        level = members.pop("compatibility", ...)
        if level is not ...:
            members["compatibilityLevel"] = None if level is None else _level(level)
        check_rule_set(body.default_rule_set)
        check_rule_set(body.override_rule_set)
        async with self._writes.exclusively([subject]):
            check_writable(self._state, subject)
            merged = {**self._state.configs.get(subject, {}), **members}
            config = {name: value for name, value in merged.items() if value is not None}
            await self._writes.append([ConfigChanged(subject, config)])
        answer = dict(config)
        if "compatibilityLevel" in answer:
            answer["compatibility"] = answer.pop("compatibilityLevel")
        return answer

    async def delete_config(self, subject: str | None) -> Mapping[str, Any]:
        """Returns the config that it had. Raises HttpProblem."""
        async with self._writes.exclusively([subject]):
            found = own_config(self._state, subject)
            if found is None:
                raise subject_not_found(str(subject))
            check_writable(self._state, subject)
            await self._writes.append([ConfigChanged(subject, None)])
            return found

    async def put_mode(self, subject: str | None, mode: str | None, *, forces: bool) -> None:
        """Raises HttpProblem."""
        wanted = None if mode is None else mode.upper()
        if wanted is not None and wanted not in MODES:
            raise invalid_mode()
        if wanted == "FORWARD" and SubjectName.parse(subject or "").context != GLOBAL_CONTEXT:
            raise invalid_mode("Forward mode only supported on global level")
        async with self._writes.exclusively([subject]):
            changes: list[Change] = []
            was = mode_in_scope(self._state, subject)
            if wanted == "IMPORT" and was != "IMPORT" and not forces:
                changes = self._cleared(subject)
            await self._writes.append([*changes, ModeChanged(subject, wanted)])

    async def delete_mode(self, subject: str | None, *, recursively: bool) -> str | None:
        """Returns the mode that it had. Raises HttpProblem."""
        async with self._writes.exclusively([subject]):
            found = own_mode(self._state, subject)
            if found is None and not recursively:
                raise subject_not_found(str(subject))
            scopes = {subject}
            if recursively and not SubjectName.parse(subject or "").subject:
                scopes |= {
                    each
                    for each in self._state.modes
                    if each is not None and matches_subject(subject or "", each)
                }
            await self._writes.append([ModeChanged(each, None) for each in scopes])
            return found

    def _cleared(self, subject: str | None) -> list[Change]:
        """An import begins without schemas: those that are deleted go, others must not be there."""
        state = self._state
        scope = subject or ""
        names = [each for each in state.subjects() if matches_subject(scope, each)]
        if any(state.has_subject(each, with_deleted=False) for each in names):
            raise not_permitted("Cannot import since found existing subjects")
        versions: list[SchemaVersion] = [each for name in names for each in state.versions(name)]
        for version in versions:
            if state.referencing(version.subject, version.version, with_deleted=True):
                raise reference_exists(version.subject, version.version)
        removed = [SchemaRemoved(each.subject, each.version) for each in versions]
        return [*removed, SubjectCleared(subject), *used_ids(state, versions)]


def _level(text: str) -> str:
    try:
        return CompatibilityLevel(text.upper()).value
    except ValueError:
        raise invalid_level() from None
