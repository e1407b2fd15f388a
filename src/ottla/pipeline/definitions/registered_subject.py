"""A subject of a schema registry, and its schemas, which are fetched with the references."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ottla.client.schemas.codecs import SchemaSet, collect
from ottla.client.schemas.registry_client import KnownSchema, SchemaRegistryClient
from ottla.client.schemas.registry_http import RegistryError
from ottla.pipeline.definitions.errors import DefinitionError

T = TypeVar("T")

_SERIALIZED: Final = "serialized"
AVRO: Final = "AVRO"
JSON: Final = "JSON"
PROTOBUF: Final = "PROTOBUF"


@dataclass(frozen=True, slots=True)
class RegisteredSubject:
    """A subject, with the schema that it has now. Tasks get it as a value."""

    registry: str
    name: str
    schemas: SchemaSet

    @property
    def id(self) -> int:
        return self.schemas.schema.id


async def latest_of(subject: str, url: str) -> SchemaSet:
    registry = SchemaRegistryClient(url)
    found = await registry.latest(subject)
    if found.type != PROTOBUF:
        return await collect(registry, found)
    return await _compiled(registry, found.id)


async def of_id(id_: int, url: str) -> SchemaSet:
    """Raises RegistryError."""
    registry = SchemaRegistryClient(url)
    found: KnownSchema = await registry.by_id(id_)
    if found.type != PROTOBUF:
        return await collect(registry, found)
    return await _compiled(registry, id_)


async def _compiled(registry: SchemaRegistryClient, id_: int) -> SchemaSet:
    schema = await registry.by_id(id_, form=_SERIALIZED)
    return await collect(registry, schema._replace(id=id_), form=_SERIALIZED)


def fetch(url: str, coroutine: Coroutine[Any, Any, T], *, what: str) -> T:
    """Raises DefinitionError."""
    try:
        return asyncio.run(coroutine)
    except RegistryError as error:
        shown = url.rpartition("@")[2]
        raise DefinitionError(f"{what} cannot be read from the registry {shown}: {error}") from None
