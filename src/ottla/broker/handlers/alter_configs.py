"""AlterConfigs, versions 0 to 2: replaces all configs of a resource (KIP-133).

Forwarded to the controller. The response is sent when this node has applied the change. Errors per
resource are those of the controller's operation; INVALID_REQUEST for another broker, and for
loggers, which only IncrementalAlterConfigs can alter; KAFKA_STORAGE_ERROR if the controller's disk
fails.
"""

from __future__ import annotations

from functools import partial

from ottla.broker.administration.config_forwarding import forward_others
from ottla.broker.administration.node_resource import check_is_this_node, check_own_configs
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.configs import ConfigResourceType, replace_configs
from ottla.controller.operations.alter_configs import resource_answer
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


@handles(
    ApiKey.ALTER_CONFIGS,
    rights=(
        Right(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC),
        Right(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER),
        Right(AclOperation.ALTER_CONFIGS, ResourceType.GROUP),
    ),
)
async def alter_configs(
    context: RequestContext,
    request: AlterConfigsRequest,
    *,
    cluster: ClusterView,
    changes: MetadataChanges,
) -> AlterConfigsResponse:
    refused: dict[int, AlterConfigsResourceResponse] = {}
    for index, resource in enumerate(request.resources):
        try:
            _check(cluster, resource)
        except KafkaError as error:
            refused[index] = resource_answer(AlterConfigsResourceResponse, resource, error)
    responses = await forward_others(
        changes, context, request, refused, AlterConfigsResourceResponse
    )
    return AlterConfigsResponse(responses=responses)


def _check(cluster: ClusterView, resource: AlterConfigsResource) -> None:
    kind = ConfigResourceType(resource.resource_type)
    if kind is ConfigResourceType.BROKER_LOGGER:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            "Log levels cannot be altered all at once; use IncrementalAlterConfigs",
        )
    if kind is ConfigResourceType.BROKER and resource.resource_name:
        check_is_this_node(resource.resource_name, cluster.node_id)
        replacement = [(config.name, config.value) for config in resource.configs]
        check_own_configs(cluster, partial(replace_configs, replacement=replacement))
