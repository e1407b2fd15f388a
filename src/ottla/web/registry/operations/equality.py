"""Whether a schema is one that a subject has already."""

from __future__ import annotations

from ottla.schemas.registered.schema_version import RegisteredSchema, SchemaVersion
from ottla.schemas.registered.state import RegistryState
from ottla.web.registry.operations.contracts import without_version
from ottla.web.registry.operations.references import source_of_version
from ottla.web.registry.operations.schema_work import SchemaWork
from ottla.web.service.problems import HttpProblem


async def find_equal(
    state: RegistryState,
    work: SchemaWork,
    subject: str,
    schema: RegisteredSchema,
    versions: list[SchemaVersion],
    id_: int | None,
) -> SchemaVersion | None:
    """The latest of the versions that is equal, with this id if there is one. The version that
    registries write into metadata does not count."""
    del subject
    contract = (without_version(schema.metadata), schema.rule_set)
    version: SchemaVersion
    for version in reversed(versions):
        stored = version.schema
        if stored.type is not schema.type or (id_ is not None and version.id != id_):
            continue
        if (without_version(stored.metadata), stored.rule_set) != contract:
            continue
        # A schema whose references are written out is equal to one that has them.
        if schema.references and schema.references != stored.references:
            continue
        if stored.text == schema.text:
            return version
        if await _canonical(state, work, version) == schema.text:
            return version
    return None


async def _canonical(state: RegistryState, work: SchemaWork, version: SchemaVersion) -> str:
    """Another registry may have stored the text in another form."""
    try:
        inspected = await work.inspect(source_of_version(state, version), is_strict=False)
    except HttpProblem:
        return version.schema.text
    return inspected.canonical
