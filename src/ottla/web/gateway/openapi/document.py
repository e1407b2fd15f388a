"""The OpenAPI document, made from the operations and the types that decode their bodies."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final

import msgspec

from ottla.version import __version__
from ottla.web.gateway.openapi.operation import HttpOperation
from ottla.web.gateway.openapi.plain_operations import PLAIN_OPERATIONS
from ottla.web.gateway.openapi.v2_operations import V2_OPERATIONS
from ottla.web.gateway.problems import MEDIA_TYPE

OPERATIONS: Final = (*PLAIN_OPERATIONS, *V2_OPERATIONS)
_REFERENCE: Final = "#/components/schemas/{name}"
# Any call may have these.
_COMMON: Final = (400, 401, 429, 503, 504)
_PROBLEM: Final = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "error", "retriable"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "error": {"type": "string", "description": "Kafka's name of the error."},
        "error_code": {"type": "integer", "description": "Kafka's number of the error."},
        "retriable": {"type": "boolean"},
        "owner": {"type": "string", "description": "The gateway that has the session."},
    },
}
_V2_PROBLEM: Final = {
    "type": "object",
    "required": ["error_code", "message"],
    "properties": {"error_code": {"type": "integer"}, "message": {"type": "string"}},
}


def openapi_document() -> dict[str, Any]:
    types = [each for each in _types(OPERATIONS) if each is not None]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    by_type = dict(zip(map(id, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        found = _described(operation, by_type)
        paths.setdefault(operation.path, {})[operation.method] = found
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ottla HTTP gateway",
            "version": __version__,
            "description": "Produce to and consume from a cluster that speaks Kafka's protocol.",
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": _PROBLEM, "V2Problem": _V2_PROBLEM},
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic"},
                "bearer": {"type": "http", "scheme": "bearer"},
            },
        },
        "security": [{}, {"basic": []}, {"bearer": []}],
    }


def _types(operations: Iterable[HttpOperation]) -> Iterable[Any]:
    seen: set[int] = set()
    for operation in operations:
        for each in (operation.body, operation.answer):
            if each is not None and id(each) not in seen:
                seen.add(id(each))
                yield each


def _described(operation: HttpOperation, by_type: dict[int, Any]) -> dict[str, Any]:
    answer = {"schema": by_type[id(operation.answer)]} if operation.answer is not None else {}
    success: dict[str, Any] = {"description": "Done."}
    if operation.success != HTTPStatus.NO_CONTENT:
        success["content"] = {operation.media_type: answer}
    found: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": ["REST v2" if operation.is_v2 else "Ottla"],
        "parameters": [each.described() for each in operation.parameters],
        "responses": {
            str(operation.success): success,
            **{
                str(status): _problem(status, is_v2=operation.is_v2)
                for status in sorted({*_COMMON, *operation.statuses})
            },
        },
    }
    if operation.body is not None:
        found["requestBody"] = {
            "required": operation.body_is_required,
            "content": {
                operation.media_type if operation.is_v2 else "application/json": {
                    "schema": by_type[id(operation.body)],
                    "example": operation.example,
                }
            },
        }
    return found


def _problem(status: int, *, is_v2: bool) -> dict[str, Any]:
    name = "V2Problem" if is_v2 else "Problem"
    media_type = "application/vnd.kafka.v2+json" if is_v2 else MEDIA_TYPE
    return {
        "description": HTTPStatus(status).phrase,
        "content": {media_type: {"schema": {"$ref": _REFERENCE.format(name=name)}}},
    }
