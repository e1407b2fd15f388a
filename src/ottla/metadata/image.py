"""The state of the cluster according to `__cluster_metadata`.

An image has one owner, which applies records to it in the order of the log, on one thread and in
place, since a cluster has many partitions and few changes. Its contents (a partition, a broker, a
credential) are immutable values that are replaced, so a copy is cheap and shares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.configs.resource import BROKERS_DEFAULT, ConfigResource, ConfigResourceType
from ottla.metadata.broker import BrokerRegistration, ControllerRegistration
from ottla.metadata.deleted_topic import DeletedTopics
from ottla.metadata.features import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    METADATA_VERSION,
    SUPPORTED_FEATURES,
)
from ottla.metadata.topic import Topics
from ottla.model import Uuid
from ottla.quotas.entities import QuotaEntity
from ottla.wire.stored.cluster_metadata.security import (
    AccessControlEntryRecord,
    DelegationTokenRecord,
    UserScramCredentialRecord,
)

_NO_CONFIGS: Mapping[str, str] = {}


@dataclass(slots=True)
class MetadataImage:
    """Initially empty; `ottla.metadata.MetadataReplay` fills it."""

    topics: Topics = field(default_factory=Topics)
    brokers: dict[int, BrokerRegistration] = field(default_factory=dict)
    controllers: dict[int, ControllerRegistration] = field(default_factory=dict)
    configs: dict[ConfigResource, dict[str, str]] = field(default_factory=dict)
    features: dict[str, int] = field(default_factory=dict)
    next_producer_id: int = 0
    client_quotas: dict[QuotaEntity, dict[str, float]] = field(default_factory=dict)
    # Kept as records: the image does not interpret them.
    access_control_entries: dict[Uuid, AccessControlEntryRecord] = field(default_factory=dict)
    scram_credentials: dict[tuple[str, int], UserScramCredentialRecord] = field(
        default_factory=dict
    )
    delegation_tokens: dict[str, DelegationTokenRecord] = field(default_factory=dict)
    # Derived from the configs.
    deleted_topics: DeletedTopics = field(default_factory=DeletedTopics)

    @property
    def is_empty(self) -> bool:
        """Whether no metadata was ever written: every cluster has a metadata.version."""
        return METADATA_VERSION not in self.features

    @property
    def metadata_version(self) -> int:
        lowest = SUPPORTED_FEATURES[METADATA_VERSION].min_supported_version
        return self.features.get(METADATA_VERSION, lowest)

    @property
    def has_eligible_leader_replicas(self) -> bool:
        return self.features.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) >= 1

    def configs_of(self, resource: ConfigResource) -> Mapping[str, str]:
        """The configs that were set for a resource, without defaults."""
        return self.configs.get(resource, _NO_CONFIGS)

    def topic_configs(self, name: str) -> Mapping[str, str]:
        return self.configs_of(ConfigResource(ConfigResourceType.TOPIC, name))

    def broker_configs(self, broker_id: int) -> Mapping[str, str]:
        return self.configs_of(ConfigResource(ConfigResourceType.BROKER, str(broker_id)))

    @property
    def cluster_configs(self) -> Mapping[str, str]:
        """The dynamic default configs of all brokers."""
        return self.configs_of(BROKERS_DEFAULT)

    def is_active(self, broker_id: int) -> bool:
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def copy(self) -> MetadataImage:
        """An independent image that shares the values of this one."""
        return MetadataImage(
            self.topics.copy(),
            self.brokers.copy(),
            self.controllers.copy(),
            {resource: configs.copy() for resource, configs in self.configs.items()},
            self.features.copy(),
            self.next_producer_id,
            {entity: quotas.copy() for entity, quotas in self.client_quotas.items()},
            self.access_control_entries.copy(),
            self.scram_credentials.copy(),
            self.delegation_tokens.copy(),
            self.deleted_topics.copy(),
        )
