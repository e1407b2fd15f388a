"""All routes of the registry; each of them also below /contexts/{context}."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from ottla.web.registry.api.changing import ChangingApi
from ottla.web.registry.api.content_type import accepted_type
from ottla.web.registry.api.lookups import Lookups
from ottla.web.registry.api.responses import CONTENT_TYPE
from ottla.web.registry.api.schema_reads import SchemaReads
from ottla.web.registry.api.setting_reads import SettingReads
from ottla.web.registry.api.subject_reads import SubjectReads
from ottla.web.service.application import identity_of
from ottla.web.service.problems import forbidden

Handler = Callable[[Request], Awaitable[Response]]

# The bits of READ and DESCRIBE.
_READ_BITS = 1 << 3 | 1 << 8


def registry_routes(lookups: Lookups, changing: ChangingApi) -> list[BaseRoute]:
    """What most requests ask for comes first."""
    schemas = SchemaReads(lookups)
    subjects = SubjectReads(lookups)
    settings = SettingReads(lookups)
    versions = "/subjects/{subject}/versions"
    reads: list[tuple[str, str, Handler]] = [
        ("GET", "/schemas/ids/{id}", schemas.schema_by_id),
        ("GET", f"{versions}/{{version}}", subjects.version),
        ("POST", "/subjects/{subject}", subjects.find_under_subject),
        ("GET", "/subjects", subjects.subjects),
        ("GET", versions, subjects.versions),
        ("GET", f"{versions}/{{version}}/schema", subjects.version_text),
        ("GET", f"{versions}/{{version}}/referencedby", subjects.referenced_by),
        ("GET", "/subjects/{subject}/metadata", subjects.latest_with_metadata),
        ("GET", "/schemas", schemas.schemas),
        ("GET", "/schemas/types", schemas.schema_types),
        ("GET", "/schemas/ids/{id}/schema", schemas.schema_text_by_id),
        ("GET", "/schemas/ids/{id}/subjects", schemas.subjects_by_id),
        ("GET", "/schemas/ids/{id}/versions", schemas.versions_by_id),
        ("GET", "/schemas/guids/{guid}", schemas.schema_by_guid),
        ("GET", "/schemas/guids/{guid}/ids", schemas.ids_by_guid),
        ("POST", f"/compatibility{versions}/{{version}}", subjects.compatible_with_version),
        ("POST", f"/compatibility{versions}", subjects.compatible_with_subject),
        ("GET", "/config", settings.config),
        ("GET", "/config/{subject}", settings.config),
        ("GET", "/mode", settings.mode),
        ("GET", "/mode/{subject}", settings.mode),
    ]
    writes: list[tuple[str, str, Handler]] = [
        ("POST", versions, changing.register),
        ("DELETE", f"{versions}/{{version}}", changing.delete_version),
        ("DELETE", "/subjects/{subject}", changing.delete_subject),
        ("PUT", "/config", changing.put_config),
        ("PUT", "/config/{subject}", changing.put_config),
        ("DELETE", "/config", changing.delete_config),
        ("DELETE", "/config/{subject}", changing.delete_config),
        ("PUT", "/mode", changing.put_mode),
        ("PUT", "/mode/{subject}", changing.put_mode),
        ("DELETE", "/mode", changing.delete_mode),
        ("DELETE", "/mode/{subject}", changing.delete_mode),
    ]
    server: list[tuple[str, str, Handler]] = [
        ("GET", "/", settings.root),
        ("POST", "/", settings.root),
        ("GET", "/contexts", settings.contexts),
        ("GET", "/v1/metadata/id", settings.metadata_id),
        ("GET", "/v1/metadata/version", settings.metadata_version),
    ]
    in_context = [
        *_routes(reads, _readable),
        *_routes(writes, changing.written),
    ]
    return [
        *in_context,
        *_routes(server, _readable),
        *_routes([("DELETE", "/contexts/{context}", changing.delete_context)], changing.written),
        Mount("/contexts/{context}", routes=in_context),
    ]


def _routes(
    table: list[tuple[str, str, Handler]], around: Callable[[Handler], Handler]
) -> list[BaseRoute]:
    found: list[BaseRoute] = []
    for method, path, handler in table:
        endpoint = _negotiated(around(handler))
        found.append(Route(path, endpoint, methods=[method]))
        if path != "/":
            found.append(Route(f"{path}/", endpoint, methods=[method]))
    # So that hot routes are tried first: the ones with a slash at the end are rare.
    return sorted(found, key=lambda each: str(getattr(each, "path", "")).endswith("/"))


def _negotiated(handler: Handler) -> Handler:
    """The handler, whose answer has the content type that the request accepts. Its name stays, for
    the metrics."""

    async def route(request: Request) -> Response:
        wanted = accepted_type(request.scope)
        response = await handler(request)
        if wanted != CONTENT_TYPE and response.media_type == CONTENT_TYPE:
            response.headers["content-type"] = wanted
        return response

    route.__name__ = handler.__name__
    return route


def _readable(handler: Handler) -> Handler:
    """The handler, for callers that the cluster allows to read the topic of schemas."""

    async def route(request: Request) -> Response:
        if not identity_of(request).operations & _READ_BITS:
            raise forbidden("the cluster does not allow you to read the topic of schemas")
        return await handler(request)

    route.__name__ = handler.__name__
    return route
