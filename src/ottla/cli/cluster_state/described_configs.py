"""The configs of many resources, as far as plans compare them."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.cluster_state.present import PresentConfig, PresentConfigs
from ottla.cli.connection.admin_connection import doing
from ottla.cli.connection.cluster_errors import refused
from ottla.cli.connection.resource_configs import resource_text
from ottla.client.administration.admin import Admin
from ottla.client.administration.configs import DescribedConfig
from ottla.configs import ConfigResource, ConfigResourceType, ConfigSource


async def describe_configs(
    admin: Admin, resources: Sequence[ConfigResource]
) -> dict[ConfigResource, PresentConfigs]:
    """Raises CommandError if one cannot be described."""
    with doing("describe configs"):
        results = await admin.describe_configs(resources)
    for resource, error in results.failed.items():
        raise refused(f"describe the configs of {resource_text(resource)}", error)
    return {
        resource: {name: _config(resource, each) for name, each in configs.items()}
        for resource, configs in results.succeeded.items()
    }


def _config(resource: ConfigResource, entry: DescribedConfig) -> PresentConfig:
    return PresentConfig(
        entry.value,
        is_set=entry.source == _own_source(resource),
        type=entry.type,
        is_read_only=entry.is_read_only,
        is_sensitive=entry.is_sensitive,
    )


def _own_source(resource: ConfigResource) -> ConfigSource:
    if resource.type is ConfigResourceType.TOPIC:
        return ConfigSource.DYNAMIC_TOPIC_CONFIG
    if resource.type is ConfigResourceType.GROUP:
        return ConfigSource.DYNAMIC_GROUP_CONFIG
    if resource.type is ConfigResourceType.CLIENT_METRICS:
        return ConfigSource.CLIENT_METRICS_CONFIG
    if resource.name:
        return ConfigSource.DYNAMIC_BROKER_CONFIG
    return ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
