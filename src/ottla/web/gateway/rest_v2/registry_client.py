"""What the gateway asks a schema registry: schemas by id, and ids of schemas.

Answers are kept: an id never means another schema. Requests block, so they run on threads; only the
address from the command line is ever requested.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

import msgspec

from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.rest_v2.v2_errors import (
    INVALID_DATA,
    SCHEMA_RETRIEVAL,
    V2Error,
    unprocessable,
)

AVRO: Final = "AVRO"
_TIMEOUT_S: Final = 10.0
_BYTES_MAX: Final = 4 << 20
_KEPT_MAX: Final = 1_000
_NOT_FOUND: Final = 404
_OK: Final = 200
_MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"


class SchemaOfId(NamedTuple):
    """`type` is AVRO, JSON or PROTOBUF; `references` are the texts of what it refers to, by
    name, with what they refer to in front."""

    id: int
    type: str
    text: str
    references: tuple[tuple[str, str], ...]


class RegistryClient:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._parts = parts
        self._schemas: OrderedDict[tuple[int, str], SchemaOfId] = OrderedDict()
        self._ids: OrderedDict[tuple[str, str], int] = OrderedDict()

    async def schema(self, schema_id: int, form: str) -> SchemaOfId:
        """The texts are in this form of the registry's (`format`). Raises V2Error."""
        known = self._schemas.get((schema_id, form))
        if known is None:
            path = f"/schemas/ids/{schema_id}?format={form}"
            status, answer = await self._request("GET", path)
            if status == _NOT_FOUND:
                raise unprocessable(f"There is no schema {schema_id}.", INVALID_DATA)
            self._require(status, answer, f"cannot get the schema {schema_id}")
            known = SchemaOfId(
                schema_id,
                answer.get("schemaType", AVRO),
                answer["schema"],
                await self._referenced(answer.get("references") or (), form),
            )
            _keep(self._schemas, (schema_id, form), known)
        return known

    async def register(self, subject: str, type_: str, text: str) -> int:
        """The id of the schema in the subject. Raises V2Error."""
        known = self._ids.get((subject, text))
        if known is None:
            body = {"schema": text} if type_ == AVRO else {"schema": text, "schemaType": type_}
            path = f"/subjects/{quote(subject, safe='')}/versions"
            status, answer = await self._request("POST", path, body)
            self._require(status, answer, "Error when registering schema")
            known = int(answer["id"])
            _keep(self._ids, (subject, text), known)
        return known

    # ----

    async def _referenced(self, references: Any, form: str) -> tuple[tuple[str, str], ...]:
        found: dict[str, str] = {}
        for each in references:
            subject, version = quote(each["subject"], safe=""), each["version"]
            path = f"/subjects/{subject}/versions/{version}?deleted=true&format={form}"
            status, answer = await self._request("GET", path)
            self._require(status, answer, "cannot get a referenced schema")
            found |= dict(await self._referenced(answer.get("references") or (), form))
            found[each["name"]] = answer["schema"]
        return tuple(found.items())

    def _require(self, status: int, answer: Any, what: str) -> None:
        if status != _OK:
            reason = answer.get("message", f"status {status}") if isinstance(answer, dict) else ""
            raise V2Error(408, SCHEMA_RETRIEVAL, f"{what}: {reason}")

    async def _request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        try:
            return await asyncio.to_thread(self._exchange, method, path, body)
        except (OSError, HTTPException, msgspec.MsgspecError) as error:
            raise GatewayProblem(
                503,
                "SCHEMA_REGISTRY_NOT_AVAILABLE",
                f"The schema registry cannot be asked: {error}",
                retriable=True,
            ) from None

    def _exchange(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        parts = self._parts
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.netloc, timeout=_TIMEOUT_S)
        content = None if body is None else msgspec.json.encode(body)
        try:
            connection.request(
                method, f"{parts.path}{path}", content, {"Content-Type": _MEDIA_TYPE}
            )
            response = connection.getresponse()
            return response.status, msgspec.json.decode(response.read(_BYTES_MAX))
        finally:
            connection.close()


def _keep(kept: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    kept[key] = value
    if len(kept) > _KEPT_MAX:
        kept.popitem(last=False)
