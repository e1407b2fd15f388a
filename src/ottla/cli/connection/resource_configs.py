"""The configs of a topic, a group, a broker or a subscription, as the cluster describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ottla.cli.connection.admin_connection import doing
from ottla.client.administration.admin import Admin
from ottla.client.administration.configs import DescribedConfig
from ottla.configs import ConfigResource, ConfigResourceType, ConfigSource

# How people are told where a value comes from.
SOURCES: Final[Mapping[ConfigSource, str]] = {
    ConfigSource.DYNAMIC_TOPIC_CONFIG: "topic",
    ConfigSource.DYNAMIC_BROKER_CONFIG: "broker",
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG: "all brokers",
    ConfigSource.STATIC_BROKER_CONFIG: "broker's file",
    ConfigSource.DEFAULT_CONFIG: "default",
    ConfigSource.DYNAMIC_GROUP_CONFIG: "group",
    ConfigSource.CLIENT_METRICS_CONFIG: "client metrics",
}


def resource_text(resource: ConfigResource) -> str:
    if resource.type is ConfigResourceType.BROKER and not resource.name:
        return "the cluster"
    return f"{resource.type.name.lower().replace('_', ' ')} {resource.name}"


async def described_configs(admin: Admin, resource: ConfigResource) -> list[DescribedConfig]:
    """All configs that the resource can have, by name."""
    with doing(f"describe the configs of {resource_text(resource)}"):
        return list((await admin.describe_configs([resource]))[resource].values())


async def alter_configs(
    admin: Admin,
    resource: ConfigResource,
    *,
    to_set: Mapping[str, str],
    to_delete: Sequence[str],
) -> None:
    """Changes these configs and no others, atomically."""
    changes: dict[str, str | None] = {**to_set, **dict.fromkeys(to_delete)}
    with doing(f"change the configs of {resource_text(resource)}"):
        (await admin.alter_configs({resource: changes})).all()
