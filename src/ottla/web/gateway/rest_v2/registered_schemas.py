"""What the gateway requests from a schema registry: schemas by id, and ids of schemas.

Only the address from the command line is ever requested.
"""

from __future__ import annotations

from typing import Final

from ottla.client.schemas.codecs import SchemaSet, collect
from ottla.client.schemas.registry_client import SchemaRegistryClient
from ottla.client.schemas.registry_http import RegistryError, RegistryUnavailableError
from ottla.web.gateway.problems import GatewayProblem
from ottla.web.gateway.rest_v2.registry_access import RegistryAccess
from ottla.web.gateway.rest_v2.v2_errors import (
    INVALID_DATA,
    SCHEMA_RETRIEVAL,
    V2Error,
    unprocessable,
)
from ottla.web.service.problems import HttpProblem

_TIMEOUT_S: Final = 10.0
_NOT_FOUND: Final = 404


class RegisteredSchemas:
    def __init__(self, access: RegistryAccess) -> None:
        self._registry = SchemaRegistryClient(
            access.url,
            username=access.username,
            password=None if access.password is None else access.password.value,
            token=None if access.token is None else access.token.value,
            ssl_context=access.ssl_context,
            timeout=_TIMEOUT_S,
        )

    async def schema(self, schema_id: int, form: str) -> SchemaSet:
        """The texts are in this form of the registry's (`format`). Raises HttpProblem."""
        try:
            schema = await self._registry.by_id(schema_id, form=form)
        except RegistryError as error:
            if error.status == _NOT_FOUND:
                raise unprocessable(f"There is no schema {schema_id}.", INVALID_DATA) from None
            raise _problem(error, f"cannot get the schema {schema_id}") from None
        try:
            return await collect(self._registry, schema, form=form)
        except RegistryError as error:
            raise _problem(error, "cannot get a referenced schema") from None

    async def register(self, subject: str, type_: str, text: str) -> int:
        """The id of the schema in the subject. Raises HttpProblem."""
        try:
            return (await self._registry.register(subject, text, type_)).id
        except RegistryError as error:
            raise _problem(error, "Error when registering schema") from None


def _problem(error: RegistryError, what: str) -> HttpProblem:
    if isinstance(error, RegistryUnavailableError):
        return GatewayProblem(503, "SCHEMA_REGISTRY_NOT_AVAILABLE", str(error), retriable=True)
    return V2Error(408, SCHEMA_RETRIEVAL, f"{what}: {error}")
