"""IncrementalAlterConfigs (0 to 1) and AlterConfigs (0 to 2) for topics, groups, brokers, the
cluster and client metrics.

Per resource: TOPIC_, GROUP_ and CLUSTER_AUTHORIZATION_FAILED, INVALID_CONFIG, INVALID_REQUEST,
UNKNOWN_TOPIC_OR_PARTITION, BROKER_ID_NOT_REGISTERED, UNSUPPORTED_VERSION for an unknown resource
type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias, TypeVar

from ottla.configs import (
    ConfigAlteration,
    ConfigResource,
    ConfigResourceType,
    alter_configs,
    apply_changes,
    replace_configs,
    validate_broker_configs,
    validate_client_metrics_configs,
    validate_dynamic_configs,
    validate_group_configs,
    validate_topic_configs,
)
from ottla.configs.tenant_configs import is_tenant_config
from ottla.controller.operation import Context, OperationOutcome
from ottla.controller.operations.config_records import config_records
from ottla.controller.operations.config_rights import require_config_right
from ottla.controller.operations.coordinator_topics import check_configs
from ottla.controller.operations.topic_names import check_name
from ottla.metadata import MetadataImage
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation
from ottla.tenancy.tenant import parse_tenant
from ottla.wire.messages import alter_configs as whole
from ottla.wire.messages import incremental_alter_configs as incremental
from ottla.wire.schema import Message

Resource = TypeVar("Resource", incremental.AlterConfigsResource, whole.AlterConfigsResource)
Answer = TypeVar("Answer")
# Computes the changes that a request makes to the current configs.
Changes: TypeAlias = Callable[[ConfigResource, Mapping[str, str]], dict[str, str | None]]

_NODE_ID_DIGITS_MAX: Final = 10


def incremental_alter_configs(
    image: MetadataImage, request: incremental.IncrementalAlterConfigsRequest, context: Context
) -> OperationOutcome[incremental.IncrementalAlterConfigsResponse]:
    records, refusals = _alter(image, request.resources, context, _incremental_changes)
    response = incremental.IncrementalAlterConfigsResponse(
        responses=[
            resource_answer(incremental.AlterConfigsResourceResponse, resource, refusal)
            for resource, refusal in zip(request.resources, refusals, strict=True)
        ]
    )
    return OperationOutcome([] if request.validate_only else records, response)


def legacy_alter_configs(
    image: MetadataImage, request: whole.AlterConfigsRequest, context: Context
) -> OperationOutcome[whole.AlterConfigsResponse]:
    records, refusals = _alter(image, request.resources, context, _legacy_changes)
    response = whole.AlterConfigsResponse(
        responses=[
            resource_answer(whole.AlterConfigsResourceResponse, resource, refusal)
            for resource, refusal in zip(request.resources, refusals, strict=True)
        ]
    )
    return OperationOutcome([] if request.validate_only else records, response)


def resource_answer(
    struct: Callable[..., Answer],
    resource: incremental.AlterConfigsResource | whole.AlterConfigsResource,
    error: KafkaError | None,
) -> Answer:
    """`struct`: the response's class of the answer to a resource."""
    return struct(
        error_code=ErrorCode.NONE if error is None else error.code,
        error_message=None if error is None else error.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


def _incremental_changes(resource: incremental.AlterConfigsResource) -> Changes:
    def changes(target: ConfigResource, current: Mapping[str, str]) -> dict[str, str | None]:
        alterations = [
            ConfigAlteration.of(config.name, config.config_operation, config.value)
            for config in resource.configs
        ]
        return alter_configs(target, current, alterations)

    return changes


def _legacy_changes(resource: whole.AlterConfigsResource) -> Changes:
    replacement = [(config.name, config.value) for config in resource.configs]
    return partial(replace_configs, replacement=replacement)


def _alter(
    image: MetadataImage,
    resources: list[Resource],
    context: Context,
    changes_of: Callable[[Resource], Changes],
) -> tuple[list[Message], list[KafkaError | None]]:
    """The records of all valid changes, and for each resource its error or None."""
    counts = Counter((each.resource_type, each.resource_name) for each in resources)
    records: list[Message] = []
    refusals: list[KafkaError | None] = []
    for each in resources:
        try:
            if counts[each.resource_type, each.resource_name] > 1:
                raise _invalid("Each resource must appear at most once.")
            resource_type = ConfigResourceType(each.resource_type)
            if resource_type is ConfigResourceType.UNKNOWN:
                raise KafkaError(
                    ErrorCode.UNSUPPORTED_VERSION, f"Unknown resource type {each.resource_type}."
                )
            resource = ConfigResource(resource_type, each.resource_name)
            require_config_right(context.rights, AclOperation.ALTER_CONFIGS, resource)
            current = image.configs_of(resource)
            changes = changes_of(each)(resource, current)
            _check(image, resource, apply_changes(current, changes), context)
            records += config_records(image, resource, changes)
        except KafkaError as error:
            refusals.append(error)
        else:
            refusals.append(None)
    return records, refusals


def _check(
    image: MetadataImage, resource: ConfigResource, configs: Mapping[str, str], context: Context
) -> None:
    """Raises KafkaError if the resource does not exist, or if these configs are not allowed."""
    if resource.type is ConfigResourceType.TOPIC:
        _check_topic(image, resource.name)
        validate_topic_configs(configs, existing=image.configs_of(resource), node=context.node)
        check_configs(resource.name, configs)
    elif resource.type is ConfigResourceType.BROKER:
        _check_broker(image, resource.name)
        if resource.name:
            # Only the broker itself can check them against its static configs.
            validate_dynamic_configs(configs, per_broker=True)
        else:
            validate_broker_configs(configs, node=context.node, per_broker=False)
            _check_tenants(configs)
    elif resource.type is ConfigResourceType.GROUP:
        # The group need not exist yet.
        if not resource.name:
            raise _invalid("Default group resources are not allowed.")
        validate_group_configs(configs, broker=context.node.values)
    elif resource.type is ConfigResourceType.CLIENT_METRICS:
        validate_client_metrics_configs(resource.name, configs)
    else:
        raise _invalid(f"The configs of {resource.type.name} resources cannot be altered here.")


def _check_tenants(configs: Mapping[str, str]) -> None:
    for name, text in configs.items():
        if is_tenant_config(name):
            try:
                parse_tenant(name, text)
            except ValueError as error:
                raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None


def _check_topic(image: MetadataImage, name: str) -> None:
    if not name:
        raise _invalid("Default topic resources are not allowed.")
    check_name(name)
    if name not in image.topics.by_name:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
        )


def _check_broker(image: MetadataImage, name: str) -> None:
    if not name:
        return
    if not (name.isascii() and name.isdecimal() and len(name) <= _NODE_ID_DIGITS_MAX):
        raise _invalid(f"Node id must be an integer, but it is: {name}")
    if int(name) not in image.brokers and int(name) not in image.controllers:
        raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"No node with id {int(name)} found.")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
