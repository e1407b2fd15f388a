"""The configs of a topic, a group or a broker, as the cluster describes them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Self

# The package has types, but its modules do not declare what they export.
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
)

from ottla.cli.connection.cluster_client import REQUEST_TIMEOUT_S, ConnectedCluster, result_of

# By the names of the client's enum members: older versions lack some of them.
SOURCES: Final = {
    "DYNAMIC_TOPIC_CONFIG": "topic",
    "DYNAMIC_BROKER_CONFIG": "broker",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "all brokers",
    "STATIC_BROKER_CONFIG": "broker's file",
    "DEFAULT_CONFIG": "default",
    "GROUP_CONFIG": "group",
}


class Resource(NamedTuple):
    """A topic, group or broker."""

    type: ResourceType
    name: str

    @classmethod
    def topic(cls, name: str) -> Self:
        return cls(ResourceType.TOPIC, name)

    @classmethod
    def group(cls, name: str) -> Self:
        return cls(ResourceType.GROUP, name)

    @classmethod
    def broker(cls, broker_id: int) -> Self:
        return cls(ResourceType.BROKER, str(broker_id))

    def __str__(self) -> str:
        return f"{self.type.name.lower()} {self.name}"


class Config(NamedTuple):
    """A config with its effective value and its source."""

    name: str
    # None if it has no value, or a sensitive one.
    value: str | None
    source: ConfigSource
    is_read_only: bool
    is_sensitive: bool

    @property
    def is_default(self) -> bool:
        return self.source is ConfigSource.DEFAULT_CONFIG

    @property
    def is_set_on_topic(self) -> bool:
        return self.source is ConfigSource.DYNAMIC_TOPIC_CONFIG


def described_configs(cluster: ConnectedCluster, resource: Resource) -> list[Config]:
    """All configs that the resource can have, by name."""
    answers = cluster.admin.describe_configs(
        [ConfigResource(resource.type, resource.name)], request_timeout=REQUEST_TIMEOUT_S
    )
    (answer,) = answers.values()
    entries = result_of(answer, f"describe the configs of {resource}")
    return [_config(entries[name]) for name in sorted(entries)]


def alter_configs(
    cluster: ConnectedCluster, resource: Resource, *, to_set: dict[str, str], to_delete: list[str]
) -> None:
    """Changes these configs and no others, atomically."""
    changes = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in to_set.items()
    ] + [
        ConfigEntry(name, None, incremental_operation=AlterConfigOpType.DELETE)
        for name in to_delete
    ]
    answers = cluster.admin.incremental_alter_configs(
        [ConfigResource(resource.type, resource.name, incremental_configs=changes)],
        request_timeout=REQUEST_TIMEOUT_S,
    )
    (answer,) = answers.values()
    result_of(answer, f"change the configs of {resource}")


def _config(entry: Any) -> Config:
    return Config(
        entry.name,
        entry.value,
        ConfigSource(entry.source),
        is_read_only=entry.is_read_only,
        is_sensitive=entry.is_sensitive,
    )
