"""Which resource an ACL has to allow, to describe or alter the configs of a resource."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ottla.configs import ConfigResource, ConfigResourceType
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Rights

_RESOURCE_TYPES: Final[Mapping[ConfigResourceType, ResourceType]] = {
    ConfigResourceType.TOPIC: ResourceType.TOPIC,
    ConfigResourceType.GROUP: ResourceType.GROUP,
    ConfigResourceType.BROKER: ResourceType.CLUSTER,
    ConfigResourceType.BROKER_LOGGER: ResourceType.CLUSTER,
    ConfigResourceType.CLIENT_METRICS: ResourceType.CLUSTER,
}


def require_config_right(rights: Rights, operation: AclOperation, resource: ConfigResource) -> None:
    """Raises `KafkaError` if the operation is not allowed. A resource of an unknown type is left to
    the caller, which refuses it."""
    resource_type = _RESOURCE_TYPES.get(resource.type)
    if resource_type is not None:
        name = CLUSTER_NAME if resource_type is ResourceType.CLUSTER else resource.name
        rights.require(operation, resource_type, name)
