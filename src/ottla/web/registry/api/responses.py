"""Responses as clients of Confluent's registry know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from starlette.responses import Response

from ottla.schemas import SchemaType
from ottla.schemas.registered.schema_version import NamedReference, SchemaVersion
from ottla.web.service.bodies import json_bytes
from ottla.web.service.problems import HttpProblem

CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
POSITION_HEADER: Final = "x-ottla-position"


def json_response(value: Any, *, status: int = 200) -> Response:
    return Response(json_bytes(value), status_code=status, media_type=CONTENT_TYPE)


def render_problem(problem: HttpProblem) -> Response:
    body = {"error_code": problem.code or problem.status, "message": problem.message}
    response = json_response(body, status=problem.status)
    response.headers.update(problem.headers)
    return response


def whole_version(version: SchemaVersion, *, text: str | None = None) -> dict[str, Any]:
    """Of a version of a subject."""
    found = {"subject": version.subject, "version": version.version, "id": version.id}
    return {**found, **schema_members(version, text=text)}


def schema_members(
    version: SchemaVersion,
    *,
    text: str | None = None,
    references: Iterable[NamedReference] | None = None,
) -> dict[str, Any]:
    """What the subject does not matter for. Avro is the type of schemas that name none."""
    schema = version.schema
    members: dict[str, Any] = {"guid": version.guid}
    if schema.type is not SchemaType.AVRO:
        members["schemaType"] = schema.type.value
    members["schema"] = schema.text if text is None else text
    listed = schema.references if references is None else references
    if schema.references:
        members["references"] = [each._asdict() for each in listed]
    if schema.metadata is not None:
        members["metadata"] = schema.metadata
    if schema.rule_set is not None:
        members["ruleSet"] = schema.rule_set
    if version.timestamp_ms >= 0:
        members["ts"] = version.timestamp_ms
    if version.is_deleted:
        members["deleted"] = True
    return members


def config_response(config: Mapping[str, Any]) -> Response:
    return json_response(config)


def text_response(text: str) -> Response:
    """A JSON value where the schema is JSON, as clients expect."""
    return Response(text.encode(), media_type="application/vnd.schemaregistry.v1+json")
