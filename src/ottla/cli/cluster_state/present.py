"""Topics, configs, users, ACLs and quotas as a cluster describes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ottla.configs import ConfigType
from ottla.quotas.entities import QuotaEntity
from ottla.security.acls.acl import AclBinding
from ottla.security.sasl.scram_credential import ScramMechanism

INTERNAL_PREFIX = "__"


class PresentConfig(NamedTuple):
    """A config with its effective value, which is None if there is none or if it is a secret."""

    value: str | None
    # Whether it is set on this very resource: on the topic, not on its broker.
    is_set: bool
    type: ConfigType = ConfigType.UNKNOWN
    is_read_only: bool = False
    is_sensitive: bool = False


# All configs that the resource can have, by name. Empty if they were not read.
PresentConfigs: TypeAlias = Mapping[str, PresentConfig]


class PresentPartition(NamedTuple):
    """`replicas` are those that the partition has once its reassignment, if any, is complete."""

    replicas: tuple[int, ...]
    is_moving: bool = False


@dataclass(frozen=True, slots=True)
class PresentTopic:
    partitions: tuple[PresentPartition, ...]
    is_internal: bool = False
    configs: PresentConfigs = field(default_factory=dict)

    @property
    def is_moving(self) -> bool:
        return any(partition.is_moving for partition in self.partitions)


@dataclass(frozen=True, slots=True)
class PresentState:
    """`brokers` are the racks of the live ones. What was not read is empty."""

    brokers: Mapping[int, str | None] = field(default_factory=dict)
    topics: Mapping[str, PresentTopic] = field(default_factory=dict)
    # The dynamic defaults of all brokers.
    cluster: PresentConfigs = field(default_factory=dict)
    broker_configs: Mapping[int, PresentConfigs] = field(default_factory=dict)
    groups: Mapping[str, PresentConfigs] = field(default_factory=dict)
    # The iterations of each user's credentials.
    users: Mapping[str, Mapping[ScramMechanism, int]] = field(default_factory=dict)
    # None if the cluster has no authorizer.
    acls: frozenset[AclBinding] | None = frozenset()
    quotas: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=dict)
    # Subscriptions to the metrics of clients, by name.
    client_metrics: Mapping[str, PresentConfigs] = field(default_factory=dict)


def set_configs(configs: PresentConfigs) -> dict[str, PresentConfig]:
    """Those that are set on the resource itself, by name."""
    return {name: config for name, config in sorted(configs.items()) if config.is_set}


def is_internal(name: str, topic: PresentTopic) -> bool:
    return topic.is_internal or name.startswith(INTERNAL_PREFIX)
