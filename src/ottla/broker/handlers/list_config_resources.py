"""ListConfigResources, versions 0 to 1: lists the resources that can have configs (KIP-1142).

Version 0 lists only client metrics subscriptions: the API was called ListClientMetricsResources
(KIP-1000). Version 1 lists the requested resource types, or all if the request names none. Topics
and brokers are listed even without configs. Errors: CLUSTER_AUTHORIZATION_FAILED,
UNSUPPORTED_VERSION for a type that cannot be listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.listener_view import ListenerView
from ottla.configs import ConfigResourceType
from ottla.model import ErrorCode
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_LISTED: Final = (
    ConfigResourceType.GROUP,
    ConfigResourceType.CLIENT_METRICS,
    ConfigResourceType.BROKER_LOGGER,
    ConfigResourceType.BROKER,
    ConfigResourceType.TOPIC,
)


@handles(
    ApiKey.LIST_CONFIG_RESOURCES,
    rights=(Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),),
)
def list_config_resources(
    context: RequestContext, request: ListConfigResourcesRequest, *, cluster: ClusterView
) -> ListConfigResourcesResponse:
    if not context.rights.allows(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME):
        return ListConfigResourcesResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    listed = _LISTED if context.api_version else (ConfigResourceType.CLIENT_METRICS,)
    requested = request.resource_types or listed
    if not set(requested) <= set(listed):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in listed
            if kind in requested
            for name in _names(cluster, context, kind)
        ]
    )


def _names(
    cluster: ClusterView, context: RequestContext, kind: ConfigResourceType
) -> Iterable[str]:
    if kind is ConfigResourceType.TOPIC:
        return cluster.image.topics.by_name
    if kind in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER):
        return map(str, ListenerView(cluster.image, context.listener).all_brokers)
    return (resource.name for resource in cluster.image.configs if resource.type == kind)
