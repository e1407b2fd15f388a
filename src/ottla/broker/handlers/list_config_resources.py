"""ListConfigResources, versions 0 to 1: what has settings (KIP-1142).

Version 0 lists client metrics subscriptions, as the API's first name said (KIP-1000). Version 1
lists the types that it names, all of them if it names none; topics and brokers are there whether or
not anything was set for them. Error: UNSUPPORTED_VERSION for a type that cannot be listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.network.listener_view import ListenerView
from ottla.configs import ConfigResourceType
from ottla.model import ErrorCode
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


@handles(ApiKey.LIST_CONFIG_RESOURCES)
def list_config_resources(
    context: RequestContext, request: ListConfigResourcesRequest, *, cluster: ClusterView
) -> ListConfigResourcesResponse:
    listed = _LISTED if context.api_version else (ConfigResourceType.CLIENT_METRICS,)
    asked = request.resource_types or listed
    if not set(asked) <= set(listed):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in listed
            if kind in asked
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
