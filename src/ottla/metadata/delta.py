"""What a run of records changed, so that a broker reacts to that and to nothing else.

A delta says which things changed and what they were before; what they are now the image says. It
is filled while records are applied, at the cost of a dictionary entry for each.
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
    """Written by whoever applies records, then read by listeners, who do not change it."""

    topics_created: dict[Uuid, TopicImage] = field(default_factory=dict)
    # As they were. A topic that came and went within the delta is in neither.
    topics_removed: dict[Uuid, TopicImage] = field(default_factory=dict)
    # By topic and number, in topics that exist: what each was before, None if it is new.
    partitions_changed: dict[Uuid, dict[int, PartitionRegistration | None]] = field(
        default_factory=dict
    )
    brokers_changed: dict[int, BrokerRegistration | None] = field(default_factory=dict)
    controllers_changed: dict[int, ControllerRegistration | None] = field(default_factory=dict)
    # The names of the configs that were set or removed; a removed topic's are not listed.
    configs_changed: dict[ConfigResource, set[str]] = field(default_factory=dict)
    features_changed: dict[str, int | None] = field(default_factory=dict)
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
