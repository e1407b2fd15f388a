"""The topics of a request that the client may not use."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final, Protocol

from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Rights

_NONE: Final[AbstractSet[str]] = frozenset()


class Named(Protocol):
    name: str


def refused_topics(
    rights: Rights, operation: AclOperation, topics: Iterable[Named]
) -> AbstractSet[str]:
    """The names of the topics on which the operation is not allowed."""
    if rights.is_unrestricted:
        return _NONE
    names = {topic.name for topic in topics}
    return names - rights.allowed(operation, ResourceType.TOPIC, names)


def unauthorized_topic(name: str) -> KafkaError:
    """Whether the topic exists is not revealed."""
    return KafkaError(
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        f"not authorized for topic {name}: no ACL allows it, or one denies it",
    )
