"""The changes made by a sequence of records, so that a broker reacts only to these.

A delta has the previous values of whatever changed; the current values are in the image. It is
filled while records are applied, at the cost of one dictionary entry per change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ottla.configs.resource import ConfigResource
from ottla.metadata.broker import BrokerRegistration, ControllerRegistration
from ottla.metadata.partition import PartitionRegistration
from ottla.metadata.topic import TopicImage
from ottla.model import Uuid


@dataclass(slots=True)
class MetadataDelta:
    """Filled while records are applied, then read by listeners, which do not modify it."""

    topics_created: dict[Uuid, TopicImage] = field(default_factory=dict)
    # Their previous state. A topic created and removed within the delta is in neither dictionary.
    topics_removed: dict[Uuid, TopicImage] = field(default_factory=dict)
    # Created and removed by the same records.
    topics_skipped: set[Uuid] = field(default_factory=set, compare=False)
    # Previous values by topic id and partition, for existing topics; None for a new partition.
    partitions_changed: dict[Uuid, dict[int, PartitionRegistration | None]] = field(
        default_factory=dict
    )
    brokers_changed: dict[int, BrokerRegistration | None] = field(default_factory=dict)
    controllers_changed: dict[int, ControllerRegistration | None] = field(default_factory=dict)
    # The names of the configs that were set or removed; without those of removed topics.
    configs_changed: dict[ConfigResource, set[str]] = field(default_factory=dict)
    features_changed: dict[str, int | None] = field(default_factory=dict)
    # The names of the deleted topics that were added, changed, or can no longer be restored.
    deleted_topics_changed: dict[Uuid, str] = field(default_factory=dict)
    client_quotas_changed: bool = False
    access_control_changed: bool = False
    scram_credentials_changed: bool = False
    delegation_tokens_changed: bool = False
    producer_ids_changed: bool = False

    @property
    def is_empty(self) -> bool:
        return self == MetadataDelta()

    def note_partition(
        self, topic_id: Uuid, partition_id: int, before: PartitionRegistration | None
    ) -> None:
        changed = self.partitions_changed.get(topic_id)
        if changed is None:
            self.partitions_changed[topic_id] = {partition_id: before}
        else:
            changed.setdefault(partition_id, before)

    def note_topic_removed(self, topic: TopicImage) -> None:
        self.partitions_changed.pop(topic.id, None)
        if self.topics_created.pop(topic.id, None) is None:
            self.topics_removed[topic.id] = topic
        else:
            self.topics_skipped.add(topic.id)
