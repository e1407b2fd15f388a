"""AlterConfigs, versions 0 to 2: replaces all configs of a resource (KIP-133).

Forwarded to the controller. The response is sent when this node has applied the change. Errors per
resource are those of the controller's operation; INVALID_REQUEST for another broker, and for
loggers, which only IncrementalAlterConfigs can alter; KAFKA_STORAGE_ERROR if the controller's disk
fails.
"""

from __future__ import annotations

from functools import partial

from ottla.broker.administration.node_resource import check_is_this_node, check_own_configs
from ottla.broker.control.active_controller import ActiveController
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.local_replicas import LocalReplicas
from ottla.configs import ConfigResourceType, replace_configs
from ottla.model import ErrorCode, KafkaError
from ottla.wire.apis import ApiKey
from ottla.wire.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


@handles(ApiKey.ALTER_CONFIGS)
async def alter_configs(
    context: RequestContext,
    request: AlterConfigsRequest,
    *,
    cluster: ClusterView,
    controller: ActiveController,
    replicas: LocalReplicas,
) -> AlterConfigsResponse:
    refused: dict[int, AlterConfigsResourceResponse] = {}
    for index, resource in enumerate(request.resources):
        try:
            _check(cluster, resource)
        except KafkaError as error:
            refused[index] = _refuse(resource, error)
    others = [each for index, each in enumerate(request.resources) if index not in refused]
    forwarded = AlterConfigsRequest(resources=others, validate_only=request.validate_only)
    answers = iter(await _forward_to_controller(controller, replicas, context, forwarded))
    return AlterConfigsResponse(
        responses=[refused.get(index) or next(answers) for index in range(len(request.resources))]
    )


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


async def _forward_to_controller(
    controller: ActiveController,
    replicas: LocalReplicas,
    context: RequestContext,
    request: AlterConfigsRequest,
) -> list[AlterConfigsResourceResponse]:
    if not request.resources:
        return []
    try:
        response: AlterConfigsResponse = await controller.forward(request, context.api_version)
    except KafkaError as error:
        return [_refuse(resource, error) for resource in request.resources]
    await replicas.wait_applied()
    return response.responses


def _refuse(resource: AlterConfigsResource, error: KafkaError) -> AlterConfigsResourceResponse:
    return AlterConfigsResourceResponse(
        error_code=error.code,
        error_message=error.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )
