"""The partitions of a share group whose state the share coordinator has, will get or will delete.

    initializing ──the share coordinator has its state──▶ initialized ──▶ deleting ──▶ gone

Only initialized partitions are assigned to members. An initialization that does not succeed within
`group.share.initialize.retry.interval.ms` is started again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.model import Uuid
from ottla.wire.stored import share_groups as stored

Partitions = Mapping[Uuid, Iterable[int]]


class StateTopic(NamedTuple):
    name: str
    partitions: frozenset[int]
    # When the initialization started; not in the log.
    since_ms: int = 0


Topics = dict[Uuid, StateTopic]


@dataclass(frozen=True, slots=True)
class StatePartitions:
    """An immutable value; a change creates a new one."""

    initializing: Topics = field(default_factory=dict)
    initialized: Topics = field(default_factory=dict)
    deleting: dict[Uuid, str] = field(default_factory=dict)

    def with_initializing(self, topics: Topics) -> StatePartitions:
        deleting = {
            topic_id: name for topic_id, name in self.deleting.items() if topic_id not in topics
        }
        return replace(self, initializing=_combined(self.initializing, topics), deleting=deleting)

    def with_initialized(self, topics: Topics) -> StatePartitions:
        return replace(
            self,
            initializing=_without(self.initializing, topics),
            initialized=_combined(self.initialized, topics),
        )

    def with_retries(self) -> StatePartitions:
        """Lets the initializations that are not finished be started again at once."""
        retried = {
            topic_id: topic._replace(since_ms=0) for topic_id, topic in self.initializing.items()
        }
        return replace(self, initializing=retried)

    def without_initializing(self, topics: Topics) -> StatePartitions:
        return replace(self, initializing=_without(self.initializing, topics))

    def with_deleting(self, names: Mapping[Uuid, str]) -> StatePartitions:
        return StatePartitions(
            _except(self.initializing, names),
            _except(self.initialized, names),
            {**self.deleting, **names},
        )

    def without_topics(self, topic_ids: Iterable[Uuid]) -> StatePartitions:
        gone = dict.fromkeys(topic_ids, "")
        deleting = {key: name for key, name in self.deleting.items() if key not in gone}
        return StatePartitions(
            _except(self.initializing, gone), _except(self.initialized, gone), deleting
        )

    def __contains__(self, topic_id: Uuid) -> bool:
        return (
            topic_id in self.initializing
            or topic_id in self.initialized
            or topic_id in self.deleting
        )

    def known(self, topic_id: Uuid, *, now_ms: int, retry_ms: int) -> frozenset[int]:
        """The partitions that are initialized, or whose initialization started recently."""
        found = frozenset[int]()
        if (initialized := self.initialized.get(topic_id)) is not None:
            found |= initialized.partitions
        initializing = self.initializing.get(topic_id)
        if initializing is not None and now_ms - initializing.since_ms < retry_ms:
            found |= initializing.partitions
        return found

    def record(self, group_id: str) -> CoordinatorRecord:
        return CoordinatorRecord(
            stored.ShareGroupStatePartitionMetadataKey(group_id=group_id),
            stored.ShareGroupStatePartitionMetadataValue(
                initializing_topics=_stored(self.initializing),
                initialized_topics=_stored(self.initialized),
                deleting_topics=[
                    stored.TopicInfo(topic_id=topic_id, topic_name=name)
                    for topic_id, name in sorted(self.deleting.items())
                ],
            ),
        )


def state_partitions_of(
    value: stored.ShareGroupStatePartitionMetadataValue, *, now_ms: int
) -> StatePartitions:
    return StatePartitions(
        {
            topic.topic_id: StateTopic(topic.topic_name, frozenset(topic.partitions), now_ms)
            for topic in value.initializing_topics
        },
        {
            topic.topic_id: StateTopic(topic.topic_name, frozenset(topic.partitions))
            for topic in value.initialized_topics
        },
        {topic.topic_id: topic.topic_name for topic in value.deleting_topics},
    )


def _stored(topics: Topics) -> list[stored.TopicPartitionsInfo]:
    return [
        stored.TopicPartitionsInfo(
            topic_id=topic_id, topic_name=topic.name, partitions=sorted(topic.partitions)
        )
        for topic_id, topic in sorted(topics.items())
    ]


def _combined(known: Topics, new: Topics) -> Topics:
    combined = known.copy()
    for topic_id, topic in new.items():
        before = combined.get(topic_id)
        partitions = topic.partitions | (frozenset() if before is None else before.partitions)
        combined[topic_id] = topic._replace(partitions=partitions)
    return combined


def _without(known: Topics, gone: Topics) -> Topics:
    left = {}
    for topic_id, topic in known.items():
        partitions = topic.partitions
        if topic_id in gone:
            partitions -= gone[topic_id].partitions
        if partitions:
            left[topic_id] = topic._replace(partitions=partitions)
    return left


def _except(known: Topics, gone: Mapping[Uuid, str]) -> Topics:
    return {topic_id: topic for topic_id, topic in known.items() if topic_id not in gone}
