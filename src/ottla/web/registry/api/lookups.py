"""What the parts of the API that look something up share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from starlette.requests import Request

from ottla.client.errors import ClientError
from ottla.schemas.registered.schema_version import SchemaVersion
from ottla.schemas.registered.state import RegistryState
from ottla.web.registry.operations.references import source_of_version
from ottla.web.registry.operations.schema_work import SchemaWork
from ottla.web.service.problems import HttpProblem

T = TypeVar("T")


class ReadStore(Protocol):
    @property
    def cluster_id(self) -> str: ...

    async def catch_up(self) -> None: ...


class Lookups:
    """What is not found here may have been written a moment ago by another instance: the topic is
    read to its end before a request is answered with 404."""

    def __init__(
        self, state: RegistryState, work: SchemaWork, store: ReadStore, group_id: str
    ) -> None:
        self.state = state
        self.work = work
        self.store = store
        self.group_id = group_id

    async def formatted(self, request: Request, version: SchemaVersion) -> str | None:
        form = request.query_params.get("format", "").strip().lower()
        if not form:
            return None
        return await self.work.formatted(source_of_version(self.state, version), form)

    async def found(self, find: Callable[[], T]) -> T:
        async def later() -> T:
            return find()

        return await self.found_later(later)

    async def found_later(self, find: Callable[[], Awaitable[T]]) -> T:
        try:
            return await find()
        except HttpProblem as problem:
            if problem.status != 404:
                raise
            changes = self.state.changes
            try:
                await self.store.catch_up()
            except ClientError:
                raise problem from None
            if self.state.changes == changes:
                raise
            return await find()
