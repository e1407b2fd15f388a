"""Share groups as records of `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.assignors.assignor import (
    Assignment,
    TopicIdPartition,
    by_topic,
)
from ottla.coordinator.groups.share.member import ShareMember
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.wire.stored import share_groups as stored


def group_record(group_id: str, *, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ShareGroupMetadataKey(group_id=group_id),
        stored.ShareGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def member_record(group_id: str, member: ShareMember) -> CoordinatorRecord:
    """A member's metadata and subscription."""
    return CoordinatorRecord(
        stored.ShareGroupMemberMetadataKey(group_id=group_id, member_id=member.id),
        stored.ShareGroupMemberMetadataValue(
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
        ),
    )


def current_assignment_record(group_id: str, member: ShareMember) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.id),
        stored.ShareGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            assigned_partitions=[
                stored.TopicPartitions(topic_id=topic_id, partitions=numbers)
                for topic_id, numbers in by_topic(member.assigned).items()
            ],
        ),
    )


def target_record(group_id: str, member_id: str, target: Assignment) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        stored.ShareGroupTargetAssignmentMemberValue(
            topic_partitions=[
                stored.TopicPartition(topic_id=topic_id, partitions=numbers)
                for topic_id, numbers in by_topic(target).items()
            ]
        ),
    )


def target_epoch_record(group_id: str, epoch: int, *, now_ms: int) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ShareGroupTargetAssignmentMetadataKey(group_id=group_id),
        stored.ShareGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=now_ms
        ),
    )


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """The tombstones that remove a member: its assignments first."""
    keys = (
        stored.ShareGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id),
        stored.ShareGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        stored.ShareGroupMemberMetadataKey(group_id=group_id, member_id=member_id),
    )
    return [CoordinatorRecord(key, None) for key in keys]


def group_tombstones(group_id: str, member_ids: Iterable[str]) -> list[CoordinatorRecord]:
    keys = (
        stored.ShareGroupTargetAssignmentMetadataKey(group_id=group_id),
        stored.ShareGroupStatePartitionMetadataKey(group_id=group_id),
        stored.ShareGroupMetadataKey(group_id=group_id),
    )
    return [
        *(each for member_id in member_ids for each in member_tombstones(group_id, member_id)),
        *(CoordinatorRecord(key, None) for key in keys),
    ]


def assignment_of(
    topics: list[stored.TopicPartitions] | list[stored.TopicPartition],
) -> Assignment:
    return frozenset(
        TopicIdPartition(topic.topic_id, number) for topic in topics for number in topic.partitions
    )
