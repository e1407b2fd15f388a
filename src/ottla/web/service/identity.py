"""Who sends a request: from its Authorization header, checked by an authenticator."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from ottla.configs.value import Password
from ottla.web.service.problems import unauthorized

_BYTES_MAX: Final = 16_384


@dataclass(frozen=True, slots=True)
class BasicCredentials:
    username: str
    password: Password = field(repr=False)


@dataclass(frozen=True, slots=True)
class BearerCredentials:
    token: Password = field(repr=False)


Credentials: TypeAlias = BasicCredentials | BearerCredentials


@dataclass(frozen=True, slots=True)
class WebIdentity:
    """`credentials` are passed on to the cluster. Without authentication there are none.
    `operations` are the bits of the operations that the cluster allows on the program's topic."""

    name: str = "anonymous"
    credentials: Credentials | None = None
    operations: int = -1


ANONYMOUS: Final = WebIdentity()


class WebAuthenticator(Protocol):
    async def identify(self, authorization: str) -> WebIdentity:
        """Of the value of the Authorization header, empty if there is none. Raises HttpProblem."""

    async def close(self) -> None: ...


class NoAuthentication:
    """Everyone is anonymous; a header is ignored."""

    async def identify(self, authorization: str) -> WebIdentity:
        del authorization
        return ANONYMOUS

    async def close(self) -> None:
        """There is nothing to end."""


def parse_authorization(header: str) -> Credentials:
    """Raises HttpProblem 401."""
    scheme, _, value = header.partition(" ")
    value = value.strip()
    if len(value) > _BYTES_MAX:
        raise unauthorized("the credentials are too long")
    if scheme.lower() == "bearer" and value:
        return BearerCredentials(Password(value))
    if scheme.lower() != "basic":
        raise unauthorized("credentials are required: Basic or Bearer")
    try:
        user, colon, password = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        raise unauthorized("the basic credentials are not base64 of user:password") from None
    if not colon or not user:
        raise unauthorized("the basic credentials are not base64 of user:password")
    return BasicCredentials(user, Password(password))
