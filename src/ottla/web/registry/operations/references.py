"""A schema with what it references, for a request: a missing one is the request's error."""

from __future__ import annotations

from ottla.schemas import InvalidSchemaError, SchemaSource
from ottla.schemas.registered import references
from ottla.schemas.registered.schema_version import RegisteredSchema, SchemaVersion
from ottla.schemas.registered.state import RegistryState
from ottla.web.registry.errors import invalid_schema


def source_of(state: RegistryState, subject: str, schema: RegisteredSchema) -> SchemaSource:
    """Raises HttpProblem 42201."""
    try:
        return references.source_of(state, subject, schema)
    except InvalidSchemaError as error:
        raise invalid_schema(f"Invalid schema: {error}") from None


def source_of_version(state: RegistryState, version: SchemaVersion) -> SchemaSource:
    """Raises HttpProblem 42201."""
    return source_of(state, version.subject, version.schema)
