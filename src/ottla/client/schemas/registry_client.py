"""A client of a schema registry: what serialisers need, with answers kept.

Requests block, so they run on a worker thread; each schema is requested once while it is in use.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

from ottla.client.schemas.recently_used import RecentlyUsed
from ottla.client.schemas.registry_http import RegistryAnswer, RegistryError, RegistryHttp, basic

_TIMEOUT_S: Final = 30.0
T = TypeVar("T")


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
    """`url` may be several, separated by commas: the next one is tried when one does not answer.
    Credentials may be in the URL. `timeout` is in seconds, for each read and write of a request.

    The answers used last are kept, at most 1,000 and 64 MiB of them. Raises ConfigError for a URL
    that is none.
    """

    def __init__(
        self,
        url: str,
        *,
        username: str | None = None,
        password: str | None = None,
        token: str | None = None,
        ssl_context: ssl.SSLContext | None = None,
        timeout: float = _TIMEOUT_S,
    ) -> None:
        authorization = ""
        if username is not None:
            authorization = basic(username, password or "")
        elif token is not None:
            authorization = f"Bearer {token}"
        self._http = RegistryHttp(
            url, authorization=authorization, ssl_context=ssl_context, timeout=timeout
        )
        self._kept = RecentlyUsed()
        self._pending: dict[tuple[object, ...], asyncio.Task[Any]] = {}

    async def by_id(self, id_: int, *, form: str = "") -> KnownSchema:
        """Raises RegistryError."""
        return _schema(await self._keep("GET", f"/schemas/ids/{id_}{_query(form)}"), id_)

    async def by_guid(self, guid: str, *, form: str = "") -> KnownSchema:
        """Raises RegistryError."""
        return _schema(await self._keep("GET", f"/schemas/guids/{guid}{_query(form)}"))

    async def by_version(
        self, subject: str, version: int, *, form: str = "", includes_deleted: bool = False
    ) -> KnownSchema:
        """Raises RegistryError."""
        query = _query(form, includes_deleted=includes_deleted)
        path = f"/subjects/{quote(subject, safe='')}/versions/{version}{query}"
        return _schema(await self._keep("GET", path))

    async def latest(self, subject: str) -> KnownSchema:
        """Not kept, because it changes. Raises RegistryError."""
        path = f"/subjects/{quote(subject, safe='')}/versions/latest"
        return _schema((await self._request("GET", path)).value)

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
        found = _object(await self._keep("POST", target, json.dumps(body)))
        return KnownSchema(
            type_, text, tuple(references), _field(found, "id", int), found.get("guid", "")
        )

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
        found = _object(await self._keep("POST", path, json.dumps(body)))
        return _field(found, "version", int)

    async def _keep(self, method: str, path: str, body: str | None = None) -> Any:
        key = (method, path, body)
        if key in self._kept:
            return self._kept.get(key)
        pending = self._pending.get(key)
        if pending is None:
            pending = self._pending[key] = asyncio.ensure_future(self._request_kept(key))
            pending.add_done_callback(lambda task: self._forget_pending(key, task))
        return await asyncio.shield(pending)

    async def _request_kept(self, key: tuple[str, str, str | None]) -> Any:
        answer = await self._request(*key)
        self._kept.keep(key, answer.value, answer.size + sum(len(each or "") for each in key))
        return answer.value

    def _forget_pending(self, key: tuple[object, ...], task: asyncio.Task[Any]) -> None:
        del self._pending[key]
        if not task.cancelled():
            # Retrieves a failure that no caller waits for any more.
            task.exception()

    async def _request(self, method: str, path: str, body: str | None = None) -> RegistryAnswer:
        return await asyncio.to_thread(self._http.exchange, method, path, body)


def _schema(answer: Any, id_: int = -1) -> KnownSchema:
    found = _object(answer)
    try:
        references = tuple(
            SchemaLink(str(each["name"]), str(each["subject"]), int(each["version"]))
            for each in found.get("references") or ()
        )
    except (TypeError, KeyError, ValueError):
        raise RegistryError("the schema registry answered with invalid references") from None
    return KnownSchema(
        found.get("schemaType") or "AVRO",
        _field(found, "schema", str),
        references,
        found.get("id", id_),
        found.get("guid", ""),
    )


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise RegistryError("the schema registry did not answer with a JSON object")
    return answer


def _field(answer: dict[str, Any], name: str, kind: type[T]) -> T:
    value = answer.get(name)
    if not isinstance(value, kind):
        raise RegistryError(f"the schema registry answered without a valid {name!r}")
    return value


def _query(form: str, *, includes_deleted: bool = False) -> str:
    given = (["deleted=true"] if includes_deleted else []) + ([f"format={form}"] if form else [])
    return f"?{'&'.join(given)}" if given else ""
