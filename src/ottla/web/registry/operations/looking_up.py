"""Finds versions by number, id, GUID, content or metadata, also in other contexts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ottla.schemas.registered.references import LATEST_VERSION
from ottla.schemas.registered.schema_version import RegisteredSchema, SchemaVersion
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import SubjectName, qualified
from ottla.web.registry.errors import (
    invalid_version,
    schema_not_found,
    subject_not_found,
    version_not_found,
)
from ottla.web.registry.model.settings_in_scope import config_in_scope
from ottla.web.registry.operations.contracts import DataContract, merged_contract
from ottla.web.registry.operations.equality import find_equal
from ottla.web.registry.operations.registering import canonical_schema
from ottla.web.registry.operations.schema_work import SchemaWork
from ottla.web.service.problems import HttpProblem

_VERSION_MAX = 2**31 - 1


def parse_version(text: str) -> int:
    """`latest` is -1. Raises HttpProblem 42202."""
    if text.strip().lower() == "latest" or text.strip() == str(LATEST_VERSION):
        return LATEST_VERSION
    try:
        number = int(text)
    except ValueError:
        raise invalid_version(text) from None
    if not 0 < number <= _VERSION_MAX or not text.strip().isascii():
        raise invalid_version(text)
    return number


def version_in(
    state: RegistryState, subject: str, number: int, *, with_deleted: bool
) -> SchemaVersion | None:
    if number == LATEST_VERSION:
        return state.latest(subject, with_deleted=with_deleted)
    found = state.version(subject, number)
    return found if found is not None and (with_deleted or not found.is_deleted) else None


def find_version(
    state: RegistryState, subject: str, number: int, *, with_deleted: bool
) -> SchemaVersion:
    """In other contexts if the default one has none. Raises HttpProblem 40401 and 40402."""
    for name in _in_contexts(state, subject):
        found = version_in(state, name, number, with_deleted=with_deleted)
        if found is not None:
            return found
    if not state.has_subject(subject, with_deleted=with_deleted):
        raise subject_not_found(subject)
    raise version_not_found("latest" if number == LATEST_VERSION else number)


def find_id(state: RegistryState, id_: int, subject: str) -> SchemaVersion | None:
    """Any version that has the id: of the subject or context if it has one, else of the default
    context."""
    name = SubjectName.parse(subject)
    if not name.subject:
        return state.any_with_id(name.context, id_)
    for qualified_name in _in_contexts(state, subject):
        context = SubjectName.parse(qualified_name).context
        for version in state.with_id(context, id_):
            if version.subject == qualified_name:
                return version
    return state.any_with_id(name.context, id_)


def versions_with_id(
    state: RegistryState, id_: int, subject: str, *, with_deleted: bool
) -> list[SchemaVersion]:
    """Raises HttpProblem 40403."""
    found = find_id(state, id_, subject)
    if found is None:
        raise schema_not_found()
    context = SubjectName.parse(found.subject).context
    return [each for each in state.with_id(context, id_) if with_deleted or not each.is_deleted]


def find_metadata(
    state: RegistryState, subject: str, wanted: Mapping[str, str], *, with_deleted: bool
) -> SchemaVersion:
    """The latest version whose properties include these. Raises HttpProblem 40401 and 40403."""
    version: SchemaVersion
    for version in reversed(state.versions(subject)):
        if version.is_deleted and not with_deleted:
            continue
        properties = (version.schema.metadata or {}).get("properties") or {}
        if wanted.items() <= properties.items():
            return version
    if not state.has_subject(subject, with_deleted=with_deleted):
        raise subject_not_found(subject)
    raise schema_not_found()


async def find_schema(
    state: RegistryState,
    work: SchemaWork,
    subject: str,
    schema: RegisteredSchema,
    *,
    normalizes: bool,
    with_deleted: bool,
) -> SchemaVersion:
    """The version of the subject that is this schema. Raises HttpProblem 40401, 40403, 42201."""
    invalid: HttpProblem | None = None
    for name in _in_contexts(state, subject):
        try:
            found = await _find_schema(
                state, work, name, schema, normalizes=normalizes, with_deleted=with_deleted
            )
        except HttpProblem as problem:
            # A reference may exist only in one of the contexts.
            invalid = invalid or problem
            continue
        if found is not None:
            return found
    if not state.has_subject(subject, with_deleted=with_deleted):
        raise subject_not_found(subject)
    raise invalid or schema_not_found()


async def _find_schema(
    state: RegistryState,
    work: SchemaWork,
    subject: str,
    schema: RegisteredSchema,
    *,
    normalizes: bool,
    with_deleted: bool,
) -> SchemaVersion | None:
    versions = [each for each in state.versions(subject) if with_deleted or not each.is_deleted]
    if not versions:
        return None
    config = config_in_scope(state, subject)
    parsed = await canonical_schema(
        state,
        work,
        subject,
        schema,
        normalizes=normalizes or bool(config.get("normalize")),
        is_strict=False,
    )
    found = await find_equal(state, work, subject, parsed.schema, versions, None)
    latest = state.latest(subject)
    if found is not None or latest is None:
        return found
    # Registered without a contract, it has got one from the config or the version before it.
    own = DataContract(schema.metadata, schema.rule_set)
    previous = DataContract(latest.schema.metadata, latest.schema.rule_set)
    merged = merged_contract(config, own, previous)
    if merged == own:
        return None
    completed = parsed.schema._replace(metadata=merged.metadata, rule_set=merged.rule_set)
    return await find_equal(state, work, subject, completed, versions, None)


def _in_contexts(state: RegistryState, subject: str) -> Iterator[str]:
    """The subject, and if it names no context, the subjects of its name in the others."""
    yield subject
    name = SubjectName.parse(subject)
    if name.is_in_default_context and name.subject:
        for context in state.contexts[1:]:
            yield qualified(context, name.subject)
