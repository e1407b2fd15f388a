"""The response of ConsumerGroupDescribe."""

from __future__ import annotations

from typing import Final

from ottla.assignors.assignor import Assignment, by_topic
from ottla.coordinator.groups.consumer.group import ConsumerGroup
from ottla.coordinator.groups.consumer.member import ConsumerMember
from ottla.coordinator.groups.consumer.target_assignment import preferred_assignor
from ottla.coordinator.groups.context import GroupContext
from ottla.model import ErrorCode
from ottla.wire.messages import consumer_group_describe as wire

_CLASSIC: Final = 0
_CONSUMER: Final = 1


def describe_consumer(context: GroupContext, group_id: str) -> wire.DescribedGroup:
    """Describes a consumer group. A group of another type counts as not found."""
    group = context.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        return wire.DescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"Group {group_id} not found."
            if group is None
            else f"Group {group_id} is not a consumer group.",
            group_id=group_id,
        )
    assignors = context.settings.consumer_assignors
    return wire.DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=preferred_assignor(group.counts.assignors, assignors),
        members=[_member(context, group, member) for member in group.members.values()],
    )


def _member(context: GroupContext, group: ConsumerGroup, member: ConsumerMember) -> wire.Member:
    return wire.Member(
        member_id=member.id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        assignment=_assignment(context, member.assigned),
        target_assignment=_assignment(context, group.target_of(member.id)),
        member_type=_CONSUMER if member.classic is None else _CLASSIC,
    )


def _assignment(context: GroupContext, assigned: Assignment) -> wire.Assignment:
    """The assignment with topic names, without deleted topics."""
    known = context.image.topics.by_id
    return wire.Assignment(
        topic_partitions=[
            wire.TopicPartitions(
                topic_id=topic_id, topic_name=known[topic_id].name, partitions=numbers
            )
            for topic_id, numbers in by_topic(assigned).items()
            if topic_id in known
        ]
    )
