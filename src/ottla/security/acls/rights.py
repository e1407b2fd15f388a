"""What the principal of a session may do.

A connection's session has one `Rights`, and so has each forwarded request. Decisions are cached
until an access control entry changes; each decision that is not in the cache is audited.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, NamedTuple, TypeAlias

from ottla.model import KafkaError
from ottla.security.acls.acl import (
    AUTHORIZATION_ERRORS,
    SUPPORTED_OPERATIONS,
    AclOperation,
    ResourceType,
)
from ottla.security.acls.authorizer import StandardAuthorizer
from ottla.security.acls.confinement import is_within
from ottla.security.principal import ANONYMOUS, Principal

# Bounds the memory of a client that names ever new resources.
_DECISIONS_MAX: Final = 4_096


class AclResource(NamedTuple):
    """A name of None is any resource of the type."""

    type: ResourceType
    name: str | None


OnDecision: TypeAlias = Callable[[Principal, str, AclOperation, AclResource, bool], None]


class Right(NamedTuple):
    """An operation on a type of resource: what an API declares that it checks."""

    operation: AclOperation
    resource_type: ResourceType


# For the APIs that everyone may use.
NO_RIGHTS: Final[tuple[Right, ...]] = ()


class _Decisions:
    """The cached decisions of one version of the authorizer. All rights of a session share them."""

    __slots__ = ("known", "version")

    def __init__(self) -> None:
        self.known: dict[tuple[AclOperation, ResourceType, str | None, bool], bool] = {}
        self.version = -1


class Rights:
    """Of one principal at one host. `is_unrestricted` is true without an authorizer, and for super
    users whose decisions are not audited: loops over many resources can be skipped then."""

    __slots__ = (
        "_authorizer",
        "_decisions",
        "_declared",
        "_on_decision",
        "_prefix",
        "host",
        "identity",
        "is_unrestricted",
        "principal",
    )

    def __init__(
        self,
        authorizer: StandardAuthorizer | None,
        principal: Principal,
        host: str,
        *,
        on_decision: OnDecision | None = None,
        prefix: str | None = None,
    ) -> None:
        """With `prefix` the client is confined to names that begin with it (confinement.py), and
        never unrestricted. `on_decision` gets the principal, the host, the operation, the resource,
        and whether the operation is allowed."""
        self.principal = principal
        # Clients with the same one share what is on a node, such as fetch sessions.
        self.identity: Hashable = (principal, prefix)
        self.host = host
        self.is_unrestricted = prefix is None and (
            authorizer is None or (on_decision is None and authorizer.is_super_user(principal))
        )
        self._authorizer = authorizer
        self._on_decision = on_decision
        self._decisions = _Decisions()
        self._declared: frozenset[tuple[AclOperation, ResourceType]] | None = None
        self._prefix = prefix

    @property
    def prefix(self) -> str:
        """The prefix of the names that the client is confined to; empty if it is not."""
        return self._prefix or ""

    def confined(self, prefix: str) -> Rights:
        """These rights, on names with a prefix only."""
        return Rights(
            self._authorizer,
            self.principal,
            self.host,
            on_decision=self._on_decision,
            prefix=prefix,
        )

    def declaring(self, declared: Iterable[Right]) -> Rights:
        """The same rights, for the requests of an API that declares what it checks. The decisions
        are cached together. A handler that checks anything else fails an assertion."""
        if self.is_unrestricted:
            return self
        rights = Rights(
            self._authorizer,
            self.principal,
            self.host,
            on_decision=self._on_decision,
            prefix=self._prefix,
        )
        rights._decisions = self._decisions
        rights._declared = frozenset(declared)
        return rights

    def allows(self, operation: AclOperation, resource_type: ResourceType, name: str) -> bool:
        return self.is_unrestricted or (
            self._is_declared(operation, resource_type)
            and self._decide(operation, resource_type, name, True)
        )

    def allows_quietly(
        self, operation: AclOperation, resource_type: ResourceType, name: str
    ) -> bool:
        """As `allows`, for a right of which another one can take the place: a denial is not
        audited."""
        return self.is_unrestricted or (
            self._is_declared(operation, resource_type)
            and self._decide(operation, resource_type, name, False)
            and self._decide(operation, resource_type, name, True)
        )

    def allows_any(self, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Whether the operation is allowed on at least one resource of the type."""
        return self.is_unrestricted or (
            self._is_declared(operation, resource_type)
            and self._decide(operation, resource_type, None, True)
        )

    def require(self, operation: AclOperation, resource_type: ResourceType, name: str) -> None:
        """Raises the `KafkaError` of the resource type if the operation is not allowed."""
        if not self.allows(operation, resource_type, name):
            raise KafkaError(
                AUTHORIZATION_ERRORS[resource_type],
                f"{self.principal} at {self.host} may not {operation.name} {resource_type.name} "
                f"{name}: no ACL allows it, or one denies it",
            )

    def allowed(
        self,
        operation: AclOperation,
        resource_type: ResourceType,
        names: Iterable[str],
        *,
        is_audited: bool = True,
    ) -> set[str]:
        """The names that are allowed. A response that leaves out the others, without the client
        having named them, is not audited."""
        if self.is_unrestricted:
            return set(names)
        self._is_declared(operation, resource_type)
        return {name for name in names if self._decide(operation, resource_type, name, is_audited)}

    def operations(self, resource_type: ResourceType, name: str) -> int:
        """The bit field of the allowed operations on a resource. Not audited."""
        supported = SUPPORTED_OPERATIONS[resource_type]
        return sum(
            1 << operation
            for operation in supported
            if self.is_unrestricted or self._decide(operation, resource_type, name, False)
        )

    def _is_declared(self, operation: AclOperation, resource_type: ResourceType) -> bool:
        """True, so that it can be part of a condition. Fails otherwise."""
        declared = self._declared
        assert declared is None or (operation, resource_type) in declared, (
            f"the handler checks {operation.name} on {resource_type.name}: declare it as one of "
            "the API's rights"
        )
        return True

    def _decide(
        self,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str | None,
        is_audited: bool,
    ) -> bool:
        prefix, authorizer = self._prefix, self._authorizer
        if prefix is not None and not is_within(prefix, operation, resource_type, name):
            return False
        if authorizer is None:
            assert prefix is not None, "without an authorizer rights are unrestricted"
            return True
        decisions, known = self._decisions, self._decisions.known
        if decisions.version != authorizer.version or len(known) >= _DECISIONS_MAX:
            known.clear()
            decisions.version = authorizer.version
        key = (operation, resource_type, name, is_audited)
        decision = known.get(key)
        if decision is None:
            decision = known[key] = self._ask(authorizer, operation, resource_type, name)
            if is_audited:
                authorizer.decisions[decision] += 1
            if is_audited and self._on_decision is not None:
                resource = AclResource(resource_type, name)
                self._on_decision(self.principal, self.host, operation, resource, decision)
        return decision

    def _ask(
        self,
        authorizer: StandardAuthorizer,
        operation: AclOperation,
        resource_type: ResourceType,
        name: str | None,
    ) -> bool:
        if name is None:
            return authorizer.allows_any(self.principal, self.host, operation, resource_type)
        return authorizer.allows(self.principal, self.host, operation, resource_type, name)


# Of a node without an authorizer, and of the node's own requests.
UNRESTRICTED: Final = Rights(None, ANONYMOUS, "")
