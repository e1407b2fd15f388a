"""IncrementalAlterConfigs, versions 0 to 1: sets, deletes, appends to or subtracts from configs.

Log levels are set on this broker (KIP-412). All other resources are forwarded to the controller,
and the response is sent when this node has applied the change. Errors per resource are those of the
controller's operation; CLUSTER_AUTHORIZATION_FAILED for log levels; INVALID_REQUEST for another
broker; KAFKA_STORAGE_ERROR for all forwarded resources if the controller's disk fails.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from ottla.broker.administration.config_forwarding import forward_others
from ottla.broker.administration.loggers import check_logger_level, set_logger_level
from ottla.broker.administration.node_resource import check_is_this_node, check_own_configs
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.broker.replicas.metadata_changes import MetadataChanges
from ottla.configs import ConfigAlteration, ConfigOperation, ConfigResourceType, alter_configs
from ottla.controller.operations.alter_configs import resource_answer
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import CLUSTER_NAME, AclOperation, ResourceType
from ottla.security.acls.rights import Right
from ottla.wire.apis import ApiKey
from ottla.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


@handles(
    ApiKey.INCREMENTAL_ALTER_CONFIGS,
    rights=(
        Right(AclOperation.ALTER_CONFIGS, ResourceType.TOPIC),
        Right(AclOperation.ALTER_CONFIGS, ResourceType.CLUSTER),
        Right(AclOperation.ALTER_CONFIGS, ResourceType.GROUP),
    ),
)
async def incremental_alter_configs(
    context: RequestContext,
    request: IncrementalAlterConfigsRequest,
    *,
    cluster: ClusterView,
    changes: MetadataChanges,
) -> IncrementalAlterConfigsResponse:
    return await alter_incrementally(cluster, changes, context, request, of_any_node=False)


async def alter_incrementally(
    cluster: ClusterView,
    changes: MetadataChanges,
    context: RequestContext,
    request: IncrementalAlterConfigsRequest,
    *,
    of_any_node: bool,
) -> IncrementalAlterConfigsResponse:
    """Handles the request. A broker accepts and validates only its own broker configs; a controller
    accepts those of any node. Log levels need ALTER_CONFIGS on a broker, and CLUSTER_ACTION on a
    controller, as in Kafka."""
    names = Counter((each.resource_type, each.resource_name) for each in request.resources)
    here: dict[int, AlterConfigsResourceResponse] = {}
    for index, resource in enumerate(request.resources):
        is_duplicate = names[resource.resource_type, resource.resource_name] > 1
        try:
            if _is_up_to_the_controller(cluster, resource, of_any_node=of_any_node):
                continue
            context.rights.require(
                AclOperation.CLUSTER_ACTION if of_any_node else AclOperation.ALTER_CONFIGS,
                ResourceType.CLUSTER,
                CLUSTER_NAME,
            )
            _alter_loggers(resource, is_duplicate=is_duplicate, validate_only=request.validate_only)
        except KafkaError as error:
            here[index] = resource_answer(AlterConfigsResourceResponse, resource, error)
        else:
            here[index] = resource_answer(AlterConfigsResourceResponse, resource, None)
    responses = await forward_others(changes, context, request, here, AlterConfigsResourceResponse)
    return IncrementalAlterConfigsResponse(responses=responses)


def _is_up_to_the_controller(
    cluster: ClusterView, resource: AlterConfigsResource, *, of_any_node: bool
) -> bool:
    kind, name = ConfigResourceType(resource.resource_type), resource.resource_name
    is_broker = kind is ConfigResourceType.BROKER and bool(name)
    if kind is ConfigResourceType.BROKER_LOGGER or (is_broker and not of_any_node):
        check_is_this_node(name, cluster.node_id)
    if is_broker and not of_any_node:
        check_own_configs(cluster, partial(alter_configs, alterations=_alterations(resource)))
    return kind is not ConfigResourceType.BROKER_LOGGER


def _alter_loggers(
    resource: AlterConfigsResource, *, is_duplicate: bool, validate_only: bool
) -> None:
    """Sets all levels of the request, or none."""
    names = [config.name for config in resource.configs]
    if is_duplicate or len(set(names)) < len(names):
        raise _invalid("Each resource, and each of its configs, must appear at most once.")
    levels: dict[str, str | None] = {}
    for name, operation, value in _alterations(resource):
        if operation is ConfigOperation.DELETE:
            levels[name] = None
        elif operation is not ConfigOperation.SET:
            raise _invalid(f"{operation.name} is not allowed for log levels: use SET or DELETE")
        elif value is None:
            raise _invalid(f"Null value not supported for: {name}")
        else:
            levels[name] = value
        check_logger_level(name, levels[name])
    if not validate_only:
        for name, level in levels.items():
            set_logger_level(name, level)


def _alterations(resource: AlterConfigsResource) -> list[ConfigAlteration]:
    return [
        ConfigAlteration.of(config.name, config.config_operation, config.value)
        for config in resource.configs
    ]


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
