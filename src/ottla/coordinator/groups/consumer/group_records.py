"""Groups of the consumer protocol as records of `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.assignors.assignor import Assignment, TopicIdPartition, by_topic
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.resolved_regex import ResolvedRegex
from ottla.coordinator.runtime.outcome import CoordinatorRecord
from ottla.wire.stored import consumer_groups as stored


def group_record(group_id: str, *, epoch: int, metadata_hash: int) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ConsumerGroupMetadataKey(group_id=group_id),
        stored.ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def member_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """A member's metadata and subscription."""
    return CoordinatorRecord(
        stored.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.id),
        stored.ConsumerGroupMemberMetadataValue(
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
            subscribed_topic_regex=member.regex,
            rebalance_timeout_ms=member.rebalance_timeout_ms,
            server_assignor=member.assignor,
            classic_member_metadata=member.classic,
        ),
    )


def current_assignment_record(group_id: str, member: ConsumerMember) -> CoordinatorRecord:
    """A member's current assignment, epoch and state."""
    return CoordinatorRecord(
        stored.ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.id),
        stored.ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=member.epoch,
            previous_member_epoch=member.previous_epoch,
            state=member.state,
            assigned_partitions=_with_topics(member.assigned),
            partitions_pending_revocation=_with_topics(member.pending_revocation),
        ),
    )


def target_record(group_id: str, member_id: str, target: Assignment) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        stored.ConsumerGroupTargetAssignmentMemberValue(
            topic_partitions=[
                stored.TopicPartition(topic_id=topic_id, partitions=numbers)
                for topic_id, numbers in by_topic(target).items()
            ]
        ),
    )


def target_tombstone(group_id: str, member_id: str) -> CoordinatorRecord:
    key = stored.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)
    return CoordinatorRecord(key, None)


def target_epoch_record(group_id: str, epoch: int, *, now_ms: int) -> CoordinatorRecord:
    return CoordinatorRecord(
        stored.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id),
        stored.ConsumerGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=now_ms
        ),
    )


def regex_record(group_id: str, regex: str, resolved: ResolvedRegex) -> CoordinatorRecord:
    return CoordinatorRecord(
        _regex_key(group_id, regex),
        stored.ConsumerGroupRegularExpressionValue(
            topics=sorted(resolved.topics),
            version=resolved.version,
            timestamp=resolved.timestamp,
        ),
    )


def regex_tombstone(group_id: str, regex: str) -> CoordinatorRecord:
    return CoordinatorRecord(_regex_key(group_id, regex), None)


def _regex_key(group_id: str, regex: str) -> stored.ConsumerGroupRegularExpressionKey:
    return stored.ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex)


def member_tombstones(group_id: str, member_id: str) -> list[CoordinatorRecord]:
    """The tombstones that remove a member: its assignments first."""
    keys = (
        stored.ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id),
        stored.ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        stored.ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id),
    )
    return [CoordinatorRecord(key, None) for key in keys]


def group_tombstones(
    group_id: str, member_ids: Iterable[str], regexes: Iterable[str]
) -> list[CoordinatorRecord]:
    return [
        *(each for member_id in member_ids for each in member_tombstones(group_id, member_id)),
        *(regex_tombstone(group_id, regex) for regex in regexes),
        CoordinatorRecord(stored.ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id), None),
        CoordinatorRecord(stored.ConsumerGroupMetadataKey(group_id=group_id), None),
    ]


def _with_topics(assignment: Assignment) -> list[stored.TopicPartitions]:
    return [
        stored.TopicPartitions(topic_id=topic_id, partitions=numbers)
        for topic_id, numbers in by_topic(assignment).items()
    ]


def assignment_of(
    topics: list[stored.TopicPartitions] | list[stored.TopicPartition],
) -> Assignment:
    return frozenset(
        TopicIdPartition(topic.topic_id, number) for topic in topics for number in topic.partitions
    )
