"""The credentials of a request: a user name and password, a bearer token, or a certificate.

The gateway does not check them: it passes them on, and the cluster does.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from ottla.web.service.identity import BasicCredentials, BearerCredentials, parse_authorization


@dataclass(frozen=True, slots=True)
class OwnIdentity:
    """The gateway's own, for callers without credentials where that is allowed."""


@dataclass(frozen=True, slots=True)
class CertificateIdentity:
    """The user that a client certificate maps to."""

    username: str


CallerCredentials: TypeAlias = (
    OwnIdentity | CertificateIdentity | BasicCredentials | BearerCredentials
)


class KnownCaller(NamedTuple):
    """`key` tells callers apart without containing a secret."""

    key: str
    credentials: CallerCredentials


OWN: Final = KnownCaller("own", OwnIdentity())


def caller_of_header(header: bytes) -> KnownCaller:
    """From the Authorization header. Raises HttpProblem."""
    credentials = parse_authorization(header.decode("latin-1"))
    if isinstance(credentials, BearerCredentials):
        return KnownCaller(f"bearer:{_digest(credentials.token.value)}", credentials)
    digest = _digest(credentials.password.value)
    return KnownCaller(f"basic:{credentials.username}:{digest}", credentials)


def caller_of_certificate(username: str) -> KnownCaller:
    return KnownCaller(f"certificate:{username}", CertificateIdentity(username))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
