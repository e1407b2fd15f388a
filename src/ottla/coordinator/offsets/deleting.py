"""Deletes offsets: on request (KIP-496), or because their topic was deleted."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.coordinator.groups.groups import Groups
from ottla.coordinator.offsets.offset_records import offset_tombstone
from ottla.coordinator.offsets.offsets import Offsets
from ottla.coordinator.runtime.outcome import CoordinatorRecord, Outcome
from ottla.model import ErrorCode, TopicPartition
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def delete_offsets(groups: Groups, offsets: Offsets, request: OffsetDeleteRequest) -> Outcome:
    """Refuses to delete offsets of topics that a member is subscribed to, with
    GROUP_SUBSCRIBED_TO_TOPIC."""
    group = groups.require(request.group_id)
    group.require_may_delete_offsets()
    known = set(offsets.partitions_of(group.id))
    records: list[CoordinatorRecord] = []
    topics = []
    for topic in request.topics:
        error = ErrorCode.NONE
        if group.is_subscribed_to(topic.name):
            error = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        names = [
            TopicPartition(topic.name, requested.partition_index) for requested in topic.partitions
        ]
        if not error:
            records += [offset_tombstone(group.id, name) for name in names if name in known]
        topics.append(
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(partition_index=name.partition, error_code=error)
                    for name in names
                ],
            )
        )
    return Outcome(records, OffsetDeleteResponse(topics=topics))


def delete_group_offsets(offsets: Offsets, group_id: str) -> list[CoordinatorRecord]:
    return [offset_tombstone(group_id, name) for name in offsets.partitions_of(group_id)]


def delete_topic_offsets(offsets: Offsets, topics: Iterable[str]) -> list[CoordinatorRecord]:
    """Tombstones for the offsets of all groups in deleted topics."""
    gone = set(topics)
    affected = dict.fromkeys(
        group_id for topic in sorted(gone) for group_id in offsets.groups_with(topic)
    )
    return [
        offset_tombstone(group_id, name)
        for group_id in affected
        for name in offsets.partitions_of(group_id)
        if name.topic in gone
    ]
