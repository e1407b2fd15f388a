"""Finds the caller of a request: its credentials, and the clients that act with them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ottla.security.distinguished_name import subject_of
from ottla.security.principal_mapping import PrincipalMapping
from ottla.web.gateway.callers.caller_clients import CallerClients
from ottla.web.gateway.callers.caller_pool import CallerPool
from ottla.web.gateway.callers.credentials import (
    OWN,
    KnownCaller,
    caller_of_certificate,
    caller_of_header,
)
from ottla.web.gateway.problems import unauthorized
from ottla.web.service.http_connection import PEER_CERTIFICATE
from ottla.web.service.identity import BasicCredentials

NONE: Final = "none"
BASIC: Final = "basic"
BEARER: Final = "bearer"
CERTIFICATE: Final = "certificate"
SCHEMES: Final = (NONE, BASIC, BEARER, CERTIFICATE)

_HEADERS_MAX: Final = 1_000


class Identification:
    """`schemes` are those that this gateway accepts."""

    def __init__(self, pool: CallerPool, schemes: Iterable[str], mapping: PrincipalMapping) -> None:
        self._pool = pool
        self._schemes = frozenset(schemes)
        self._mapping = mapping
        # By the header's text, so that a header is parsed once.
        self._parsed: OrderedDict[bytes, KnownCaller] = OrderedDict()

    async def caller(self, scope: Mapping[str, Any]) -> CallerClients:
        """Raises GatewayProblem with status 401 if credentials are missing, or not accepted."""
        caller = self._caller(scope)
        clients = self._pool.known(caller.key)
        return clients if clients is not None else await self._pool.get(caller)

    def _caller(self, scope: Mapping[str, Any]) -> KnownCaller:
        if self._schemes == {NONE}:
            return OWN
        for name, value in scope["headers"]:
            if name == b"authorization":
                return self._of_header(value)
        if CERTIFICATE in self._schemes:
            certificate = scope.get("state", {}).get(PEER_CERTIFICATE)
            if certificate is not None:
                return caller_of_certificate(self._mapping.name_of(subject_of(certificate)))
        if NONE in self._schemes:
            return OWN
        raise unauthorized("The gateway needs credentials.", scheme=self._scheme)

    def _of_header(self, header: bytes) -> KnownCaller:
        known = self._parsed.get(header)
        if known is not None:
            return known
        caller = caller_of_header(header)
        wanted = BASIC if isinstance(caller.credentials, BasicCredentials) else BEARER
        if wanted not in self._schemes:
            raise unauthorized(
                f"The gateway does not accept {wanted} credentials.", scheme=self._scheme
            )
        self._parsed[header] = caller
        if len(self._parsed) > _HEADERS_MAX:
            self._parsed.popitem(last=False)
        return caller

    @property
    def _scheme(self) -> str:
        return "Bearer" if BEARER in self._schemes and BASIC not in self._schemes else "Basic"
