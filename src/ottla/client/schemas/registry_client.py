"""A client of a schema registry: what serialisers need, with answers kept.

Requests block, so they run on a worker thread; each schema is requested once.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final, NamedTuple
from urllib.parse import quote, urlsplit

from ottla.client.errors import ClientError

_TIMEOUT_S: Final = 30.0
_CONTENT_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_BYTES_MAX: Final = 16 << 20
_OK: Final = 200


class RegistryError(ClientError):
    """The registry refused a request, or did not answer. `code` is its own error code."""

    def __init__(self, message: str, code: int = -1) -> None:
        super().__init__(message)
        self.code = code


class SchemaLink(NamedTuple):
    """A reference: `name` is what the schema calls it."""

    name: str
    subject: str
    version: int


class KnownSchema(NamedTuple):
    """A schema of the registry. `id` is -1 where the registry was asked for a GUID."""

    type: str
    text: str
    references: tuple[SchemaLink, ...]
    id: int = -1
    guid: str = ""


class SchemaRegistryClient:
    """`url` may be several, separated by commas: the next one is tried when one does not answer."""

    def __init__(
        self,
        url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        token: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._urls = [each.strip().rstrip("/") for each in url.split(",")]
        self._headers = {"content-type": _CONTENT_TYPE, "accept": _CONTENT_TYPE}
        if username is not None:
            credentials = base64.b64encode(f"{username}:{password or ''}".encode()).decode()
            self._headers["authorization"] = f"Basic {credentials}"
        elif token is not None:
            self._headers["authorization"] = f"Bearer {token}"
        self._ssl_context = ssl_context
        self._kept: dict[tuple[object, ...], Any] = {}
        self._pending: dict[tuple[object, ...], asyncio.Future[Any]] = {}

    async def by_id(self, id_: int, *, form: str = "") -> KnownSchema:
        """Raises RegistryError."""
        return _schema(await self._keep("GET", f"/schemas/ids/{id_}{_query(form)}"), id_)

    async def by_guid(self, guid: str, *, form: str = "") -> KnownSchema:
        """Raises RegistryError."""
        return _schema(await self._keep("GET", f"/schemas/guids/{guid}{_query(form)}"))

    async def by_version(self, subject: str, version: int, *, form: str = "") -> KnownSchema:
        """Raises RegistryError."""
        path = f"/subjects/{quote(subject, safe='')}/versions/{version}{_query(form)}"
        return _schema(await self._keep("GET", path))

    async def latest(self, subject: str) -> KnownSchema:
        """Not kept, because it changes. Raises RegistryError."""
        path = f"/subjects/{quote(subject, safe='')}/versions/latest"
        return _schema(await self._request("GET", path))

    async def register(
        self,
        subject: str,
        text: str,
        type_: str,
        references: Sequence[SchemaLink] = (),
        *,
        normalizes: bool = False,
        is_new: bool = True,
    ) -> KnownSchema:
        """The schema with its id; without `is_new` it has to be registered already. Raises
        RegistryError."""
        path = f"/subjects/{quote(subject, safe='')}" + ("/versions" if is_new else "")
        body = {
            "schema": text,
            "schemaType": type_,
            "references": [each._asdict() for each in references],
        }
        target = path + ("?normalize=true" if normalizes else "")
        found = await self._keep("POST", target, json.dumps(body))
        return KnownSchema(type_, text, tuple(references), found["id"], found.get("guid", ""))

    async def lookup_version(
        self, subject: str, text: str, type_: str, references: Sequence[SchemaLink] = ()
    ) -> int:
        """The version of the subject that is this schema. Raises RegistryError."""
        body = {
            "schema": text,
            "schemaType": type_,
            "references": [each._asdict() for each in references],
        }
        path = f"/subjects/{quote(subject, safe='')}"
        found = await self._keep("POST", path, json.dumps(body))
        return int(found["version"])

    async def _keep(self, method: str, path: str, body: str | None = None) -> Any:
        key = (method, path, body)
        if key not in self._kept:
            pending = self._pending.get(key)
            if pending is None:
                request = self._request(method, path, body)
                pending = self._pending[key] = asyncio.ensure_future(request)
                pending.add_done_callback(lambda _: self._pending.pop(key, None))
            self._kept[key] = await asyncio.shield(pending)
        return self._kept[key]

    async def _request(self, method: str, path: str, body: str | None = None) -> Any:
        return await asyncio.to_thread(self._exchange, method, path, body)

    def _exchange(self, method: str, path: str, body: str | None) -> Any:
        reasons = []
        for url in self._urls:
            try:
                status, data = _send(url, method, path, body, self._headers, self._ssl_context)
            except (OSError, HTTPException) as error:
                reasons.append(f"{url}: {error}")
                continue
            return _answer(status, data)
        raise RegistryError(f"the registry does not answer: {'; '.join(reasons)}")


def _send(
    url: str,
    method: str,
    path: str,
    body: str | None,
    headers: Mapping[str, str],
    context: ssl.SSLContext | None,
) -> tuple[int, bytes]:
    parts = urlsplit(url)
    host, port = parts.hostname or "127.0.0.1", parts.port
    connection = (
        HTTPSConnection(host, port, timeout=_TIMEOUT_S, context=context)
        if parts.scheme == "https"
        else HTTPConnection(host, port, timeout=_TIMEOUT_S)
    )
    try:
        connection.request(method, parts.path + path, body, dict(headers))
        response = connection.getresponse()
        return response.status, response.read(_BYTES_MAX)
    finally:
        connection.close()


def _answer(status: int, data: bytes) -> Any:
    try:
        answer = json.loads(data) if data else None
    except ValueError:
        answer = None
    if status == _OK:
        return answer
    if isinstance(answer, dict):
        raise RegistryError(str(answer.get("message")), int(answer.get("error_code", status)))
    raise RegistryError(f"the registry answers with status {status}", status)


def _schema(answer: Any, id_: int = -1) -> KnownSchema:
    references = tuple(
        SchemaLink(each["name"], each["subject"], each["version"])
        for each in answer.get("references") or ()
    )
    return KnownSchema(
        answer.get("schemaType", "AVRO"),
        answer["schema"],
        references,
        answer.get("id", id_),
        answer.get("guid", ""),
    )


def _query(form: str) -> str:
    return f"?format={form}" if form else ""
