"""Finds the schemas that a schema references, and those that they reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ottla.schemas.errors import InvalidSchemaError
from ottla.schemas.registered.schema_version import (
    NamedReference,
    RegisteredSchema,
)
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import beside
from ottla.schemas.source import ResolvedReference, SchemaSource

LATEST_VERSION: Final = -1
_REFERENCES_MAX: Final = 1_000


def source_of(state: RegistryState, subject: str, schema: RegisteredSchema) -> SchemaSource:
    """The schema with all that it references, what others need first. Raises InvalidSchemaError."""
    found: dict[str, str] = {}
    _collect(state, subject, schema.references, found, ())
    resolved = tuple(ResolvedReference(name, text) for name, text in found.items())
    return SchemaSource(schema.type, schema.text, resolved)


def _collect(
    state: RegistryState,
    subject: str,
    references: Sequence[NamedReference],
    found: dict[str, str],
    path: tuple[tuple[str, int], ...],
) -> None:
    for reference in references:
        target = beside(subject, reference.subject)
        if reference.version == LATEST_VERSION:
            version = state.latest(target)
        else:
            version = state.version(target, reference.version)
        if version is None:
            raise InvalidSchemaError(
                f"no schema reference found for subject {reference.subject!r} and "
                f"version {reference.version}"
            )
        key = (version.subject, version.version)
        if key in path or len(found) > _REFERENCES_MAX:
            raise InvalidSchemaError("it has too many references, or references itself")
        if reference.name not in found:
            _collect(state, version.subject, version.schema.references, found, (*path, key))
            found.setdefault(reference.name, version.schema.text)
