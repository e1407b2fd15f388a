"""The events of a cluster with authentication and ACLs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from ottla.security.acls.acl import AclBinding, AclOperation, ResourceType
from ottla.simulation.history.history import Event


class NeededRight(NamedTuple):
    """An operation on a resource. A name of None is any resource of the type."""

    operation: AclOperation
    resource_type: ResourceType
    name: str | None

    def __str__(self) -> str:
        return f"{self.operation.name} {self.resource_type.name} {self.name or 'any'}"


ABSENT: Final = ""
UNKNOWN: Final = "?"
PRESENT: Final = "present"

# One of these rights is enough.
Need: TypeAlias = tuple[NeededRight, ...]


class KnownCredential(NamedTuple):
    """A SCRAM credential in an image: the user, the mechanism's code and the stored key."""

    user: str
    mechanism: int
    stored_key: str

    @property
    def key(self) -> str:
        return credential_key(self.user, self.mechanism)


class KnownToken(NamedTuple):
    """A delegation token in an image. `digest` is of its HMAC."""

    id: str
    digest: str
    expires_at_ms: int

    @property
    def key(self) -> str:
        return token_key(self.digest)


def acl_key(acl: AclBinding) -> str:
    pattern, entry = acl
    return (
        f"ACL {entry.permission.name} {entry.principal} at {entry.host} {entry.operation.name} "
        f"{pattern.resource_type.name} {pattern.pattern_type.name} {pattern.name}"
    )


def credential_key(user: str, mechanism: int) -> str:
    return f"credential {mechanism} of {user}"


def token_key(digest: str) -> str:
    return f"token {digest}"


@dataclass(frozen=True, slots=True)
class ClusterSecured(Event):
    """The cluster's fixed security settings."""

    super_users: tuple[str, ...]
    # Users of the mechanism PLAIN with their passwords.
    plain_users: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AclsKnown(Event):
    """The ACLs in a node's image at an offset, None before it has an image. A node's versions
    count up."""

    version: int
    offset: int
    acls: tuple[AclBinding, ...] | None

    def __str__(self) -> str:
        number = "no" if self.acls is None else len(self.acls)
        return f"{self.who:<12} knows {number} ACLs at offset {self.offset}"


@dataclass(frozen=True, slots=True)
class CredentialsKnown(Event):
    """The credentials and tokens in a node's image at an offset, None before it has an image."""

    version: int
    offset: int
    credentials: tuple[KnownCredential, ...] | None
    tokens: tuple[KnownToken, ...]

    def __str__(self) -> str:
        return (
            f"{self.who:<12} knows {len(self.credentials or ())} credentials and "
            f"{len(self.tokens)} tokens at offset {self.offset}"
        )


@dataclass(frozen=True, slots=True)
class CredentialMade(Event):
    """An administrator derived a credential from a password."""

    credential: KnownCredential
    password: str


@dataclass(frozen=True, slots=True)
class LoginBegun(Event):
    """A client begins to authenticate as a user. `name` is the user or a token's id, `nonce` is
    empty for PLAIN."""

    user: str
    name: str
    nonce: str
    password: str


@dataclass(frozen=True, slots=True)
class LoginAnswered(Event):
    """A node accepted or refused a login. `proof` is the client's nonce, or the password of PLAIN.
    The credentials in its image had the versions from `first` to `last` meanwhile."""

    host: str
    mechanism: str
    name: str
    proof: str
    is_accepted: bool
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ServedAs(Event):
    """A node handled requests of a host as those of a principal."""

    host: str
    principal: str


@dataclass(frozen=True, slots=True)
class RequestForwarded(Event):
    """A node received a request that the active controller handles. `digest` is of its content."""

    host: str
    principal: str
    api: str
    digest: str


@dataclass(frozen=True, slots=True)
class RequestAnswered(Event):
    """A node answered requests of a principal, all of them with or without an authorization error.

    It had the versions from `first` to `last` of the ACLs meanwhile. A controller has the digests
    of forwarded requests. Equal events are recorded once.
    """

    principal: str
    host: str
    api: str
    needs: tuple[Need, ...]
    is_refused: bool
    first: int
    last: int
    digest: str = ""

    def __str__(self) -> str:
        needed = ", ".join(" or ".join(map(str, need)) for need in self.needs)
        outcome = "refuses" if self.is_refused else "serves"
        return (
            f"{self.who:<12} {outcome} {self.api} of {self.principal} with ACLs {self.first} to "
            f"{self.last}; it needs {needed}"
        )


@dataclass(frozen=True, slots=True)
class SecurityChange(Event):
    """The controller on a node begins to change ACLs, credentials or tokens: keys with their new
    values. ABSENT is for what is removed, UNKNOWN for a value that the response has."""

    number: int
    changes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SecurityChangeAnswered(Event):
    """The controller's answer to a change: what it acknowledged, at the latest at this offset of
    the metadata log. It refused the rest."""

    number: int
    changes: tuple[tuple[str, str], ...]
    offset: int
