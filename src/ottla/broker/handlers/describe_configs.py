"""DescribeConfigs, versions 1 to 4: configs with their sources, and documentation (KIP-569).

For topics, groups, subscriptions to client metrics and this broker the response has all configs,
set or not. For the broker resource without a name it has the cluster-wide defaults that are set.
For the topic resource `~` it has the deleted topics that the client may describe, as configs named
`orders~<topic id>`; with text before the `~`, those whose names begin with it, without this text.
Errors per resource: UNKNOWN_TOPIC_OR_PARTITION, INVALID_TOPIC_EXCEPTION,
INVALID_REQUEST for another broker or an unknown type.
"""

from __future__ import annotations

from collections.abc import Collection

from ottla.broker.administration.deleted_topics import deleted_entries, is_deleted_listing
from ottla.broker.administration.loggers import logger_levels
from ottla.broker.administration.node_resource import check_is_this_node
from ottla.broker.control.cluster_view import ClusterView
from ottla.broker.network.handling import RequestContext, handles
from ottla.configs import (
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigType,
    describe_broker,
    describe_brokers_default,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from ottla.controller.operations.config_rights import require_config_right
from ottla.controller.operations.topic_names import check_name
from ottla.model import ErrorCode, KafkaError
from ottla.security.acls.acl import AclOperation, ResourceType
from ottla.security.acls.rights import Right, Rights
from ottla.wire.apis import ApiKey
from ottla.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


@handles(
    ApiKey.DESCRIBE_CONFIGS,
    rights=(
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC),
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),
        Right(AclOperation.DESCRIBE_CONFIGS, ResourceType.GROUP),
    ),
)
def describe_configs(
    context: RequestContext,
    request: DescribeConfigsRequest,
    *,
    cluster: ClusterView,
) -> DescribeConfigsResponse:
    # Duplicates are dropped: a response is a thousand times as large as its request.
    resources = {(each.resource_type, each.resource_name): each for each in request.resources}
    return DescribeConfigsResponse(
        results=[
            _describe(cluster, context.rights, resource, request) for resource in resources.values()
        ]
    )


def _describe(
    cluster: ClusterView,
    rights: Rights,
    requested: DescribeConfigsResource,
    request: DescribeConfigsRequest,
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        error_message=None,
        resource_type=requested.resource_type,
        resource_name=requested.resource_name,
    )
    try:
        resource = ConfigResource(
            ConfigResourceType(requested.resource_type), requested.resource_name
        )
        if is_deleted_listing(resource):
            entries = deleted_entries(cluster.image, resource.name, rights)
        else:
            require_config_right(rights, AclOperation.DESCRIBE_CONFIGS, resource)
            entries = _entries(cluster, requested)
    except KafkaError as error:
        result.error_code = error.code
        result.error_message = error.message
    else:
        kind = ConfigResourceType(requested.resource_type)
        result.configs = [_shown(kind, entry, request) for entry in entries]
    return result


def _entries(cluster: ClusterView, requested: DescribeConfigsResource) -> list[ConfigEntry]:
    kind, name = ConfigResourceType(requested.resource_type), requested.resource_name
    names = requested.configuration_keys
    if kind is ConfigResourceType.TOPIC:
        return _topic_entries(cluster, name, names)
    if kind is ConfigResourceType.BROKER and not name:
        return describe_brokers_default(cluster.config, names=names)
    if kind is ConfigResourceType.BROKER:
        check_is_this_node(name, cluster.node_id)
        return describe_broker(cluster.config, names=names)
    if kind is ConfigResourceType.BROKER_LOGGER:
        check_is_this_node(name, cluster.node_id)
        source = ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG
        return [
            _entry(logger, level, source)
            for logger, level in logger_levels().items()
            if not names or logger in names
        ]
    if kind not in (ConfigResourceType.GROUP, ConfigResourceType.CLIENT_METRICS):
        raise _invalid(f"Unsupported resource type {requested.resource_type}")
    if not name:
        raise _invalid(f"A {kind.name} resource must have a name")
    configs = cluster.image.configs_of(ConfigResource(kind, name))
    if kind is ConfigResourceType.GROUP:
        return describe_group(configs, node=cluster.config, names=names)
    return describe_client_metrics(configs, names=names)


def _topic_entries(
    cluster: ClusterView, name: str, names: Collection[str] | None
) -> list[ConfigEntry]:
    check_name(name)
    if name not in cluster.image.topics.by_name:
        raise KafkaError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist."
        )
    topic = cluster.config.topic_config(cluster.image.topic_configs(name))
    return describe_topic(topic, node=cluster.config, names=names)


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)


def _entry(name: str, value: str, source: ConfigSource) -> ConfigEntry:
    return ConfigEntry(
        name,
        value,
        ConfigType.UNKNOWN,
        source,
        is_read_only=False,
        is_sensitive=False,
        synonyms=(),
    )


def _shown(
    kind: ConfigResourceType, entry: ConfigEntry, request: DescribeConfigsRequest
) -> DescribeConfigsResourceResult:
    synonyms = entry.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.is_read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=each.name, value=each.value, source=each.source)
            for each in synonyms
        ],
        config_type=entry.type,
        documentation=_documentation(kind, entry.name) if request.include_documentation else None,
    )


def _documentation(kind: ConfigResourceType, name: str) -> str | None:
    # Imported late: the texts are large, and few clients request them.
    from ottla.configs.documentation import documentation

    return documentation(kind, name)
