"""GET requests, and the POST requests that only look something up. Any instance answers them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from ottla.client.errors import ClientError
from ottla.version import __version__
from ottla.web.registry.api.queries import (
    context_of,
    flag,
    id_subject,
    page,
    resolve_alias,
    settings_subject,
    subject_in_context,
    subject_of,
)
from ottla.web.registry.api.responses import (
    config_response,
    json_response,
    schema_members,
    whole_version,
)
from ottla.web.registry.errors import (
    config_not_found,
    mode_not_found,
    schema_not_found,
    subject_not_found,
    version_not_found,
)
from ottla.web.registry.model.schema_version import SchemaVersion
from ottla.web.registry.model.settings_in_scope import (
    config_in_scope,
    mode_in_scope,
    own_config,
    own_mode,
)
from ottla.web.registry.model.state import RegistryState
from ottla.web.registry.model.subject_name import (
    ALL_CONTEXTS,
    DEFAULT_CONTEXT,
    SubjectName,
    beside,
    qualified,
)
from ottla.web.registry.operations.looking_up import (
    find_id,
    find_metadata,
    find_schema,
    find_version,
    parse_version,
    version_in,
    versions_with_id,
)
from ottla.web.registry.operations.references import LATEST_VERSION, source_of_version
from ottla.web.registry.operations.registering import (
    canonical_schema,
    compatibility_messages,
    schema_of,
)
from ottla.web.registry.operations.requests import SCHEMA_DECODER
from ottla.web.registry.operations.schema_work import SchemaWork
from ottla.web.service.bodies import decode_body
from ottla.web.service.paths import segment
from ottla.web.service.problems import HttpProblem

T = TypeVar("T")

_GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_SCHEMAS_MAX: Final = 1_000
_CACHED_MAX: Final = 10_000
_ID_MAX: Final = 2**31


class ReadStore(Protocol):
    @property
    def cluster_id(self) -> str: ...

    async def catch_up(self) -> None: ...


class ReadingApi:
    """What is not found here may have been written a moment ago by another instance: the topic is
    read to its end before a request is answered with 404."""

    def __init__(
        self, state: RegistryState, work: SchemaWork, store: ReadStore, group_id: str
    ) -> None:
        self._state = state
        self._work = work
        self._store = store
        self._group_id = group_id
        # Whole responses of schemas by id, as long as the state does not change.
        self._cached: dict[str, Response] = {}
        self._cached_at = 0

    # ---- ids and GUIDs

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

        version = await self._found(find)
        formatted = await self._formatted(request, version)
        members = schema_members(version, text=formatted, references=_shown(request, version))
        if request.query_params.get("subject"):
            members = {"subject": version.subject, "version": version.version, **members}
        if flag(request, "fetchMaxId"):
            context = SubjectName.parse(version.subject).context
            members["maxId"] = self._state.highest_ids.get(context, 0)
        return json_response(members)

    async def schema_text_by_id(self, request: Request) -> Response:
        id_ = parse_id(request.path_params["id"])
        version = await self._found(lambda: self._with_id(request, id_))
        return _text(await self._formatted(request, version) or version.schema.text)

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
        formatted = await self._formatted(request, versions[0])
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
        for subject in self._matching(prefix):
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

    # ---- subjects and versions

    async def subjects(self, request: Request) -> Response:
        given = request.query_params.get("subjectPrefix")
        if given is None and context_of(request) == DEFAULT_CONTEXT:
            given = ALL_CONTEXTS
        prefix = subject_in_context(request, given or "")
        only_deleted, with_deleted = flag(request, "deletedOnly"), flag(request, "deleted")
        found = []
        for subject in self._matching(prefix):
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
            for each in await self._found(find)
            if as_negative
            or (each.is_deleted if only_deleted else with_deleted or not each.is_deleted)
        ]
        return json_response(page(request, numbers))

    async def version(self, request: Request) -> Response:
        version = await self._version(request)
        members = whole_version(version, text=await self._formatted(request, version))
        if members.get("references"):
            members["references"] = [each._asdict() for each in _shown(request, version)]
        return json_response(members)

    async def version_text(self, request: Request) -> Response:
        version = await self._version(request)
        return _text(await self._formatted(request, version) or version.schema.text)

    async def referenced_by(self, request: Request) -> Response:
        subject = subject_of(request, self._state)
        number = parse_version(segment(request, "version"))
        version = await self._found(
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
        version = await self._found(
            lambda: find_metadata(
                self._state, subject, wanted, with_deleted=flag(request, "deleted")
            )
        )
        return json_response(whole_version(version, text=await self._formatted(request, version)))

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

        version = await self._found_later(find)
        return json_response(whole_version(version, text=await self._formatted(request, version)))

    # ---- compatibility

    async def compatible_with_version(self, request: Request) -> Response:
        subject = subject_in_context(request, segment(request, "subject"))
        number = parse_version(segment(request, "version"))

        def find() -> list[SchemaVersion]:
            found = version_in(self._state, subject, number, with_deleted=False)
            if found is None and number != LATEST_VERSION:
                raise version_not_found(number)
            return [] if found is None else [found]

        return await self._check(request, subject, await self._found(find))

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

    # ---- settings and contexts

    async def config(self, request: Request) -> Response:
        subject = settings_subject(request)
        if flag(request, "defaultToGlobal"):
            return config_response(config_in_scope(self._state, subject))

        def find() -> Any:
            found = own_config(self._state, subject)
            if found is None:
                raise config_not_found(str(subject))
            return found

        return config_response(await self._found(find))

    async def mode(self, request: Request) -> Response:
        subject = settings_subject(request)
        if flag(request, "defaultToGlobal"):
            return json_response({"mode": mode_in_scope(self._state, subject)})

        def find() -> str:
            found = own_mode(self._state, subject)
            if found is None:
                raise mode_not_found(str(subject))
            return found

        return json_response({"mode": await self._found(find)})

    async def contexts(self, request: Request) -> Response:
        prefix = request.query_params.get("contextPrefix", "")
        found = [each for each in self._state.contexts if each.startswith(prefix)]
        return json_response(page(request, found))

    async def root(self, _request: Request) -> Response:
        return json_response({})

    async def metadata_id(self, _request: Request) -> Response:
        clusters = {
            "kafka-cluster": self._store.cluster_id,
            "schema-registry-cluster": self._group_id,
        }
        return json_response({"scope": {"path": [], "clusters": clusters}})

    async def metadata_version(self, _request: Request) -> Response:
        return json_response({"version": f"ottla-{__version__}", "commitId": "unknown"})

    # ----

    def _with_id(self, request: Request, id_: int) -> SchemaVersion:
        found = find_id(self._state, id_, id_subject(request, self._state))
        if found is None:
            raise schema_not_found(id_)
        return found

    async def _versions_by_id(self, request: Request) -> list[SchemaVersion]:
        id_ = parse_id(request.path_params["id"])
        return await self._found(
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

        return await self._found(find)

    async def _version(self, request: Request) -> SchemaVersion:
        subject = subject_of(request, self._state)
        number = parse_version(segment(request, "version"))
        return await self._found(
            lambda: find_version(
                self._state, subject, number, with_deleted=flag(request, "deleted")
            )
        )

    def _matching(self, prefix: str) -> list[str]:
        """Subjects in order; `:*:` stands for all contexts."""
        name = SubjectName.parse(prefix)
        if name.context == "*":
            prefixes = [qualified(each, name.subject) for each in self._state.contexts]
        else:
            prefixes = [prefix]
        found = set()
        for subject in self._state.subjects():
            context = SubjectName.parse(subject).context
            for each in prefixes:
                if subject.startswith(each) and SubjectName.parse(each).context == context:
                    found.add(subject)
        return sorted(found)

    async def _formatted(self, request: Request, version: SchemaVersion) -> str | None:
        form = request.query_params.get("format", "").strip().lower()
        if not form:
            return None
        return await self._work.formatted(source_of_version(self._state, version), form)

    async def _found(self, find: Callable[[], T]) -> T:
        async def later() -> T:
            return find()

        return await self._found_later(later)

    async def _found_later(self, find: Callable[[], Awaitable[T]]) -> T:
        try:
            return await find()
        except HttpProblem as problem:
            if problem.status != 404:
                raise
            changes = self._state.changes
            try:
                await self._store.catch_up()
            except ClientError:
                raise problem from None
            if self._state.changes == changes:
                raise
            return await find()


def parse_id(text: str) -> int:
    """Raises HttpProblem 404, as for a path that does not exist."""
    if not (text.isascii() and text.isdigit()) or int(text) >= _ID_MAX:
        raise HttpProblem(404, "HTTP 404 Not Found")
    return int(text)


def _shown(request: Request, version: SchemaVersion) -> tuple[Any, ...]:
    """References; with `referenceFormat=qualified`, with the context of their subjects."""
    references = version.schema.references
    if request.query_params.get("referenceFormat") != "qualified":
        return references
    return tuple(
        each._replace(subject=beside(version.subject, each.subject)) for each in references
    )


def _rule_types(version: SchemaVersion) -> set[str]:
    rules = version.schema.rule_set or {}
    return {
        rule.get("type")
        for kind in ("migrationRules", "domainRules", "encodingRules")
        for rule in rules.get(kind) or ()
    }


def _text(text: str) -> Response:
    """A JSON value where the schema is JSON, as clients expect."""
    return Response(text.encode(), media_type="application/vnd.schemaregistry.v1+json")
