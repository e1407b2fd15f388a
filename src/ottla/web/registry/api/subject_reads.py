"""Requests that look up subjects, their versions, and whether a schema fits to them."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ottla.schemas.registered.references import LATEST_VERSION
from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.subject_name import (
    ALL_CONTEXTS,
    DEFAULT_CONTEXT,
)
from ottla.web.registry.api.lookups import Lookups
from ottla.web.registry.api.queries import (
    context_of,
    flag,
    matching_subjects,
    page,
    resolve_alias,
    shown_references,
    subject_in_context,
    subject_of,
)
from ottla.web.registry.api.responses import (
    json_response,
    text_response,
    whole_version,
)
from ottla.web.registry.errors import (
    subject_not_found,
    version_not_found,
)
from ottla.web.registry.model.settings_in_scope import (
    config_in_scope,
)
from ottla.web.registry.operations.looking_up import (
    find_metadata,
    find_schema,
    find_version,
    parse_version,
    version_in,
)
from ottla.web.registry.operations.registering import (
    canonical_schema,
    compatibility_messages,
    schema_of,
)
from ottla.web.registry.operations.requests import SCHEMA_DECODER
from ottla.web.service.bodies import decode_body
from ottla.web.service.paths import segment
from ottla.web.service.problems import HttpProblem


class SubjectReads:
    """Owned by one event loop."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups
        self._state = lookups.state
        self._work = lookups.work

    async def subjects(self, request: Request) -> Response:
        given = request.query_params.get("subjectPrefix")
        if given is None and context_of(request) == DEFAULT_CONTEXT:
            given = ALL_CONTEXTS
        prefix = subject_in_context(request, given or "")
        only_deleted, with_deleted = flag(request, "deletedOnly"), flag(request, "deleted")
        found = []
        for subject in matching_subjects(self._state, prefix):
            is_kept = self._state.has_subject(subject, with_deleted=False)
            if not is_kept if only_deleted else (is_kept or with_deleted):
                found.append(subject)
        return json_response(page(request, found))

    async def versions(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        only_deleted, as_negative = flag(request, "deletedOnly"), flag(request, "deletedAsNegative")
        with_deleted = flag(request, "deleted") or only_deleted

        def find() -> list[SchemaVersion]:
            if not self._state.has_subject(subject, with_deleted=with_deleted):
                raise subject_not_found(subject)
            return self._state.versions(subject)

        numbers = [
            -each.version if as_negative and each.is_deleted else each.version
            for each in await self._lookups.found(find)
            if as_negative
            or (each.is_deleted if only_deleted else with_deleted or not each.is_deleted)
        ]
        return json_response(page(request, numbers))

    async def version(self, request: Request) -> Response:
        version = await self._version(request)
        members = whole_version(version, text=await self._lookups.formatted(request, version))
        if members.get("references"):
            members["references"] = [each._asdict() for each in shown_references(request, version)]
        return json_response(members)

    async def version_text(self, request: Request) -> Response:
        version = await self._version(request)
        return text_response(await self._lookups.formatted(request, version) or version.schema.text)

    async def referenced_by(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        number = parse_version(segment(request, "version"))
        version = await self._lookups.found(
            lambda: find_version(self._state, subject, number, with_deleted=True)
        )
        referencing = self._state.referencing(
            version.subject, version.version, with_deleted=flag(request, "deleted")
        )
        return json_response(page(request, sorted({each.id for each in referencing})))

    async def latest_with_metadata(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        query = request.query_params
        wanted = dict(zip(query.getlist("key"), query.getlist("value"), strict=False))
        version = await self._lookups.found(
            lambda: find_metadata(
                self._state, subject, wanted, with_deleted=flag(request, "deleted")
            )
        )
        return json_response(
            whole_version(version, text=await self._lookups.formatted(request, version))
        )

    async def find_under_subject(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        schema = schema_of(await decode_body(request, SCHEMA_DECODER))

        async def find() -> SchemaVersion:
            return await find_schema(
                self._state,
                self._work,
                subject,
                schema,
                normalizes=flag(request, "normalize"),
                with_deleted=flag(request, "deleted"),
            )

        version = await self._lookups.found_later(find)
        return json_response(
            whole_version(version, text=await self._lookups.formatted(request, version))
        )

    async def compatible_with_version(self, request: Request) -> Response:
        subject = subject_in_context(request, segment(request, "subject"))
        number = parse_version(segment(request, "version"))

        def find() -> list[SchemaVersion]:
            found = version_in(self._state, subject, number, with_deleted=False)
            if found is None and number != LATEST_VERSION:
                raise version_not_found(number)
            return [] if found is None else [found]

        return await self._check(request, subject, await self._lookups.found(find))

    async def compatible_with_subject(self, request: Request) -> Response:
        subject = subject_in_context(request, segment(request, "subject"))
        versions = [each for each in self._state.versions(subject) if not each.is_deleted]
        return await self._check(request, subject, versions)

    async def _check(
        self, request: Request, subject: str, earlier: list[SchemaVersion]
    ) -> Response:
        subject = resolve_alias(self._state, subject)
        verbose = flag(request, "verbose")
        config = config_in_scope(self._state, subject)
        schema = schema_of(await decode_body(request, SCHEMA_DECODER))
        try:
            parsed = await canonical_schema(
                self._state,
                self._work,
                subject,
                schema,
                normalizes=flag(request, "normalize") or bool(config.get("normalize")),
                is_strict=config.get("validateNewSchemas") is not False,
            )
            messages = await compatibility_messages(
                self._state, self._work, subject, config, parsed, earlier
            )
        except HttpProblem as problem:
            if not verbose:
                raise
            messages = [problem.message]
        answer: dict[str, Any] = {"is_compatible": not messages}
        if verbose:
            answer["messages"] = messages
        return json_response(answer)

    async def _version(self, request: Request) -> SchemaVersion:
        subject = subject_of(request, self._state)
        number = parse_version(segment(request, "version"))
        return await self._lookups.found(
            lambda: find_version(
                self._state, subject, number, with_deleted=flag(request, "deleted")
            )
        )
