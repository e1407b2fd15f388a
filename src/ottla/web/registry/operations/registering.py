"""Registers a schema as a version of a subject.

An equal schema of the subject is found instead of registered again, and one of another subject of
the same context shares its id. In the modes IMPORT and FORWARD, the request brings id and version,
and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ottla.schemas import CompatibilityLevel, SchemaType
from ottla.schemas.registered.records import (
    Change,
    ContextChanged,
    SchemaRemoved,
    SchemaWritten,
)
from ottla.schemas.registered.schema_version import (
    NamedReference,
    RegisteredSchema,
    SchemaVersion,
)
from ottla.schemas.registered.state import RegistryState
from ottla.schemas.registered.subject_name import SubjectName, beside
from ottla.schemas.work import EarlierVersion
from ottla.web.registry.errors import incompatible, invalid_schema, not_permitted
from ottla.web.registry.model.settings_in_scope import config_in_scope, mode_in_scope
from ottla.web.registry.operations.contracts import (
    DataContract,
    merged_contract,
    version_of,
    with_version,
)
from ottla.web.registry.operations.equality import find_equal
from ottla.web.registry.operations.references import source_of, source_of_version
from ottla.web.registry.operations.requests import SchemaBody, check_rule_set
from ottla.web.registry.operations.schema_work import SchemaWork
from ottla.web.registry.operations.writes import RegistryWrites, check_writable

IMPORTS = ("IMPORT", "FORWARD")
_RESERVED = "confluent:reserved"


class ParsedSchemaBody(NamedTuple):
    schema: RegisteredSchema
    top_fields: frozenset[str]


def schema_of(body: SchemaBody) -> RegisteredSchema:
    """As it was sent. Raises HttpProblem 42201 and 42210."""
    check_rule_set(body.rule_set)
    try:
        type_ = SchemaType(body.schema_type or "AVRO")
    except ValueError:
        raise invalid_schema(f"Invalid schema type {body.schema_type}") from None
    return RegisteredSchema(
        type_,
        body.schema or "",
        tuple(
            NamedReference(each.name, each.subject, each.version) for each in body.references or ()
        ),
        None if body.metadata is None else msgspec.to_builtins(body.metadata),
        None if body.rule_set is None else msgspec.to_builtins(body.rule_set),
    )


async def canonical_schema(
    state: RegistryState,
    work: SchemaWork,
    subject: str,
    schema: RegisteredSchema,
    *,
    normalizes: bool,
    is_strict: bool,
) -> ParsedSchemaBody:
    """In the form in which it is stored and compared. Raises HttpProblem 42201."""
    if not schema.text.strip():
        raise invalid_schema("Empty schema")
    inspected = await work.inspect(source_of(state, subject, schema), is_strict=is_strict)
    references = schema.references
    if normalizes:
        references = tuple(sorted(set(references)))
    text = inspected.normal if normalizes else inspected.canonical
    return ParsedSchemaBody(schema._replace(text=text, references=references), inspected.top_fields)


class Registering:
    def __init__(self, writes: RegistryWrites, work: SchemaWork) -> None:
        self._writes = writes
        self._state = writes.state
        self._work = work

    async def register(
        self, subject: str, body: SchemaBody, *, normalizes: bool, forces: bool = False
    ) -> SchemaVersion:
        """Raises HttpProblem."""
        schema = schema_of(body)
        subjects = {subject, *(beside(subject, each.subject) for each in schema.references)}
        async with self._writes.exclusively(subjects):
            self._check_mode(subject, body)
            return await self._register(subject, body, schema, normalizes, forces)

    def _check_mode(self, subject: str, body: SchemaBody) -> None:
        check_writable(self._state, subject)
        mode = mode_in_scope(self._state, subject)
        if body.id is not None and body.id >= 0:
            if mode not in IMPORTS:
                raise not_permitted(f"Subject {subject} is not in import mode")
        elif mode != "READWRITE":
            raise not_permitted(f"Subject {subject} is not in read-write mode")

    async def _register(
        self,
        subject: str,
        body: SchemaBody,
        schema: RegisteredSchema,
        normalizes: bool,
        forces: bool,
    ) -> SchemaVersion:
        state = self._state
        config = config_in_scope(state, subject)
        imports = mode_in_scope(state, subject) in IMPORTS
        versions = state.versions(subject)
        kept = [each for each in versions if not each.is_deleted]
        number = versions[-1].version + 1 if versions else 1
        if not imports:
            schema = _completed(config, schema, kept, number, body.version or 0)
        wanted = body.id if body.id is not None and body.id >= 0 else None
        parsed = await canonical_schema(
            state,
            self._work,
            subject,
            schema,
            normalizes=(normalizes or bool(config.get("normalize"))) and not imports,
            is_strict=wanted is None and config.get("validateNewSchemas") is not False,
        )
        schema = parsed.schema
        context = SubjectName.parse(subject).context
        digest = schema.digest()
        known = self._writes.id_of(context, digest)
        id_ = known if known is not None and wanted in (None, known) else wanted
        if not body.version:
            same = await find_equal(state, self._work, subject, schema, kept, id_)
            if same is not None:
                return same
        if not imports and not forces:
            await self._check_compatible(subject, config, parsed, kept)
        if body.version is not None and body.version > 0:
            if body.version != number and not imports:
                raise invalid_schema("Version is not one more than previous version")
            number = body.version
        self._check_id(context, id_, schema)
        # Another registration of the same schema may have taken an id meanwhile.
        id_ = self._writes.id_of(context, digest) if id_ is None else id_
        taken = id_ is None
        id_ = self._writes.take_id(context, digest) if id_ is None else id_
        version = SchemaVersion(subject, number, id_, schema, digest)
        try:
            await self._writes.append(self._changes(version, versions))
        finally:
            if taken:
                self._writes.settle_id(context, digest)
        return state.version(subject, number) or version

    def _check_id(self, context: str, id_: int | None, schema: RegisteredSchema) -> None:
        """An id that a request brings must not have another schema already."""
        existing = None if id_ is None else self._state.any_with_id(context, id_)
        if existing is not None and existing.schema != schema:
            raise not_permitted(
                f"Overwrite new schema with id {id_} in context {context} is not permitted."
            )

    def _changes(self, version: SchemaVersion, versions: list[SchemaVersion]) -> list[Change]:
        changes: list[Change] = []
        context = SubjectName.parse(version.subject).context
        if not self._state.has_context(context):
            changes.append(ContextChanged(context, exists=True))
        for each in versions:
            is_replaced = each.is_deleted and (each.id, each.version < version.version) == (
                version.id,
                True,
            )
            if is_replaced and not self._state.referencing(
                each.subject, each.version, with_deleted=True
            ):
                changes.append(SchemaRemoved(each.subject, each.version))
        return [*changes, SchemaWritten(version)]

    async def _check_compatible(
        self,
        subject: str,
        config: Mapping[str, Any],
        parsed: ParsedSchemaBody,
        earlier: list[SchemaVersion],
    ) -> None:
        messages = await compatibility_messages(
            self._state, self._work, subject, config, parsed, earlier
        )
        if messages:
            raise incompatible(subject, messages)


async def compatibility_messages(
    state: RegistryState,
    work: SchemaWork,
    subject: str,
    config: Mapping[str, Any],
    parsed: ParsedSchemaBody,
    earlier: list[SchemaVersion],
) -> list[str]:
    """Why the config of the subject does not allow the schema after these versions."""
    schema = parsed.schema
    messages = []
    if config.get("validateFields"):
        messages += _reserved_conflicts(parsed, earlier)
    group = config.get("compatibilityGroup")
    if group:
        wanted = _property(schema.metadata, group)
        earlier = [each for each in earlier if _property(each.schema.metadata, group) == wanted]
    level = CompatibilityLevel(config["compatibilityLevel"])
    compared = earlier if level.is_transitive else earlier[-1:]
    sources = [EarlierVersion(each.version, source_of_version(state, each)) for each in compared]
    messages += await work.check(level, source_of(state, subject, schema), sources)
    if messages:
        validates = str(bool(config.get("validateFields"))).lower()
        messages.append(f"{{validateFields: '{validates}', compatibility: '{level.value}'}}")
    return messages


def _completed(
    config: Mapping[str, Any],
    schema: RegisteredSchema,
    kept: list[SchemaVersion],
    number: int,
    version: int,
) -> RegisteredSchema:
    """With what the request leaves out: the text of the latest version, and the contract."""
    latest = kept[-1].schema if kept else None
    if not schema.text.strip() and latest is not None:
        schema = schema._replace(type=latest.type, text=latest.text, references=latest.references)
    contract = merged_contract(
        config,
        DataContract(schema.metadata, schema.rule_set),
        None if latest is None else DataContract(latest.metadata, latest.rule_set),
    )
    metadata = contract.metadata
    if version != 0 or version_of(metadata) is not None:
        metadata = with_version(metadata, number)
    return schema._replace(metadata=metadata, rule_set=contract.rule_set)


def _reserved_conflicts(parsed: ParsedSchemaBody, earlier: list[SchemaVersion]) -> list[str]:
    reserved = _reserved(parsed.schema.metadata)
    before = _reserved(earlier[-1].schema.metadata) if earlier else set()
    return [
        *(
            f"The new schema has reserved field {name} removed from its metadata which is present "
            "in the old schema's metadata."
            for name in sorted(before - reserved)
        ),
        *(
            f"The new schema has field that conflicts with the reserved field {name}."
            for name in sorted(reserved & parsed.top_fields)
        ),
    ]


def _reserved(metadata: Mapping[str, Any] | None) -> set[str]:
    listed = _property(metadata, _RESERVED) or ""
    return {name.strip() for name in listed.split(",") if name.strip()}


def _property(metadata: Mapping[str, Any] | None, name: str) -> str | None:
    found: str | None = ((metadata or {}).get("properties") or {}).get(name)
    return found
