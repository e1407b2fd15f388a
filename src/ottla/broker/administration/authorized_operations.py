"""The operations that a client may do on a resource, as a bit field in responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.security.acls.acl import CLUSTER_NAME, SUPPORTED_OPERATIONS, AclOperation, ResourceType
from ottla.security.acls.rights import Rights

NOT_REQUESTED: Final = -(2**31)

_ALL: Final[Mapping[ResourceType, int]] = {
    resource_type: sum(1 << operation for operation in operations)
    for resource_type, operations in SUPPORTED_OPERATIONS.items()
}
TOPIC_OPERATIONS: Final = _ALL[ResourceType.TOPIC]
CLUSTER_OPERATIONS: Final = _ALL[ResourceType.CLUSTER]


def authorized_operations(rights: Rights, resource_type: ResourceType, name: str) -> int:
    if rights.is_unrestricted:
        return _ALL[resource_type]
    return rights.operations(resource_type, name)


def cluster_operations(rights: Rights) -> int:
    """None of them for a client that may not describe the cluster."""
    may_describe = rights.allowed(
        AclOperation.DESCRIBE, ResourceType.CLUSTER, (CLUSTER_NAME,), is_audited=False
    )
    if not may_describe:
        return 0
    return authorized_operations(rights, ResourceType.CLUSTER, CLUSTER_NAME)
