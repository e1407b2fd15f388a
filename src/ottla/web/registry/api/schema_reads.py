"""GET requests for schemas: by id, by GUID, or all."""

from __future__ import annotations

import re
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.subject_name import (
    SubjectName,
)
from ottla.web.registry.api.lookups import Lookups
from ottla.web.registry.api.queries import (
    flag,
    id_subject,
    matching_subjects,
    page,
    shown_references,
    subject_in_context,
)
from ottla.web.registry.api.responses import (
    json_response,
    schema_members,
    text_response,
    whole_version,
)
from ottla.web.registry.errors import (
    schema_not_found,
)
from ottla.web.registry.operations.looking_up import (
    find_id,
    versions_with_id,
)
from ottla.web.service.problems import HttpProblem

_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_SCHEMAS_MAX: Final = 1_000
_CACHED_MAX: Final = 10_000
_ID_MAX: Final = 2**31


class SchemaReads:
    """Owned by one event loop."""

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups
        self._state = lookups.state
        self._work = lookups.work
        # Whole responses of schemas by id, as long as the state does not change.
        self._cached: dict[str, Response] = {}
        self._cached_at = 0

    async def schema_by_id(self, request: Request) -> Response:
        text = request.path_params["id"]
        if request.scope["query_string"] or "context" in request.path_params:
            return await self._schema_by_id(request, text)
        if self._cached_at != self._state.changes or len(self._cached) > _CACHED_MAX:
            self._cached.clear()
            self._cached_at = self._state.changes
        found = self._cached.get(text)
        if found is None:
            found = await self._schema_by_id(request, text)
            if self._cached_at == self._state.changes:
                self._cached[text] = found
        return found

    async def _schema_by_id(self, request: Request, text: str) -> Response:
        id_ = parse_id(text)

        def find() -> SchemaVersion:
            return self._with_id(request, id_)

        version = await self._lookups.found(find)
        formatted = await self._lookups.formatted(request, version)
        members = schema_members(
            version, text=formatted, references=shown_references(request, version)
        )
        if request.query_params.get("subject"):
            members = {"subject": version.subject, "version": version.version, **members}
        if flag(request, "fetchMaxId"):
            context = SubjectName.parse(version.subject).context
            members["maxId"] = self._state.highest_ids.get(context, 0)
        return json_response(members)

    async def schema_text_by_id(self, request: Request) -> Response:
        id_ = parse_id(request.path_params["id"])
        version = await self._lookups.found(lambda: self._with_id(request, id_))
        return text_response(await self._lookups.formatted(request, version) or version.schema.text)

    async def subjects_by_id(self, request: Request) -> Response:
        versions = await self._versions_by_id(request)
        subjects = list(dict.fromkeys(each.subject for each in versions))
        return json_response(page(request, subjects))

    async def versions_by_id(self, request: Request) -> Response:
        versions = await self._versions_by_id(request)
        listed = [{"subject": each.subject, "version": each.version} for each in versions]
        return json_response(page(request, listed))

    async def schema_by_guid(self, request: Request) -> Response:
        _, versions = await self._with_guid(request)
        formatted = await self._lookups.formatted(request, versions[0])
        return json_response(schema_members(versions[0], text=formatted))

    async def ids_by_guid(self, request: Request) -> Response:
        ids, _ = await self._with_guid(request)
        return json_response([{"context": each, "id": ids[each]} for each in sorted(ids)])

    async def schema_types(self, _request: Request) -> Response:
        return json_response(["JSON", "PROTOBUF", "AVRO"])

    async def schemas(self, request: Request) -> Response:
        prefix = subject_in_context(request, request.query_params.get("subjectPrefix", ""))
        with_deleted, rule_type = flag(request, "deleted"), request.query_params.get("ruleType")
        found = []
        for subject in matching_subjects(self._state, prefix):
            versions = [
                each
                for each in self._state.versions(subject)
                if with_deleted or not each.is_deleted
            ]
            found += versions[-1:] if flag(request, "latestOnly") else versions
        if rule_type:
            found = [each for each in found if rule_type in _rule_types(each)]
        return json_response(
            [whole_version(each) for each in page(request, found, limit_max=_SCHEMAS_MAX)]
        )

    def _with_id(self, request: Request, id_: int) -> SchemaVersion:
        found = find_id(self._state, id_, id_subject(request, self._state))
        if found is None:
            raise schema_not_found(id_)
        return found

    async def _versions_by_id(self, request: Request) -> list[SchemaVersion]:
        id_ = parse_id(request.path_params["id"])
        return await self._lookups.found(
            lambda: versions_with_id(
                self._state,
                id_,
                id_subject(request, self._state),
                with_deleted=flag(request, "deleted"),
            )
        )

    async def _with_guid(self, request: Request) -> tuple[dict[str, int], list[SchemaVersion]]:
        """The ids of the GUID by context, and its versions in the first of them."""
        text = request.path_params["guid"]
        if not _GUID.match(text):
            raise schema_not_found(text)
        digest = bytes.fromhex(text.replace("-", ""))

        def find() -> tuple[dict[str, int], list[SchemaVersion]]:
            ids = dict(self._state.ids_of_guid(digest))
            if not ids:
                raise schema_not_found(text)
            context = min(ids)
            return ids, self._state.with_id(context, ids[context])

        return await self._lookups.found(find)


def parse_id(text: str) -> int:
    """Raises HttpProblem 404, as for a path that does not exist."""
    if not (text.isascii() and text.isdigit()) or int(text) >= _ID_MAX:
        raise HttpProblem(404, "HTTP 404 Not Found")
    return int(text)


def _rule_types(version: SchemaVersion) -> set[str]:
    rules = version.schema.rule_set or {}
    return {
        rule.get("type")
        for kind in ("migrationRules", "domainRules", "encodingRules")
        for rule in rules.get(kind) or ()
    }
