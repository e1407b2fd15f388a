"""What a request needs: the least rights in the order in which they are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from ottla.model import ErrorCode
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.wire.apis import ApiKey
from ottla.wire.schema import Message
from tests.support.nodes.one_node import OneNode

# An operation on a resource.
Allowed: TypeAlias = tuple[AclOperation, ResourceType, str]
Prepare: TypeAlias = Callable[[OneNode], object]

TOPIC, GROUP, TRANSACTIONAL_ID = "orders", "sales", "pay"
NEW_TOPIC = "new"
USER = "User:bob"
ERROR_CODE = "error_code"


@dataclass(frozen=True, slots=True)
class Needed:
    """Without `right`, and without any of the `others`, the response has the error at its places.
    `has_effect` if the request is carried out all the same."""

    right: Allowed
    error: ErrorCode
    places: tuple[str, ...] = (ERROR_CODE,)
    others: tuple[Allowed, ...] = ()
    has_effect: bool = False


@dataclass(frozen=True, slots=True)
class AuthorizedApi:
    """A request to an API. `served` are the error codes of the response with all that is needed;
    None for any but those of authorization. `name` distinguishes the requests of one API."""

    key: ApiKey
    request: Callable[[OneNode], Message]
    needed: tuple[Needed, ...]
    name: str = ""
    version: int | None = None
    served: frozenset[int] | None = frozenset({0})
    prepare: Prepare = field(default=lambda _node: None)

    @property
    def id(self) -> str:
        return f"{self.key.name} {self.name}".strip()


AUTHORIZATION_ERRORS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    }
)


def on_topic(
    operation: AclOperation, *places: str, name: str = TOPIC, others: tuple[Allowed, ...] = ()
) -> Needed:
    right = (operation, ResourceType.TOPIC, name)
    return Needed(right, ErrorCode.TOPIC_AUTHORIZATION_FAILED, places or (ERROR_CODE,), others)


def on_group(operation: AclOperation, *places: str) -> Needed:
    right = (operation, ResourceType.GROUP, GROUP)
    return Needed(right, ErrorCode.GROUP_AUTHORIZATION_FAILED, places or (ERROR_CODE,))


def on_transactional_id(operation: AclOperation, *places: str) -> Needed:
    right = (operation, ResourceType.TRANSACTIONAL_ID, TRANSACTIONAL_ID)
    return Needed(right, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, places or (ERROR_CODE,))


def cluster(operation: AclOperation) -> Allowed:
    return operation, ResourceType.CLUSTER, "kafka-cluster"


def on_cluster(operation: AclOperation, *places: str, others: tuple[Allowed, ...] = ()) -> Needed:
    error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return Needed(cluster(operation), error, places or (ERROR_CODE,), others)
