"""Confines a client to names with a prefix, whatever ACLs allow: for the clients of a tenant.

It holds without an authorizer, too. It is the second of two walls: the first is that the names in
requests are translated, so that such a client cannot say another name.
"""

from __future__ import annotations

from typing import Final

from ottla.security.acls.acl import AclOperation, ResourceType

_NAMED: Final = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)


def is_within(
    prefix: str, operation: AclOperation, resource_type: ResourceType, name: str | None
) -> bool:
    """Whether a client that is confined to a prefix may do this at all. On the cluster it may only
    be an idempotent producer."""
    if resource_type is ResourceType.CLUSTER:
        return operation is AclOperation.IDEMPOTENT_WRITE
    return resource_type in _NAMED and (name is None or name.startswith(prefix))
