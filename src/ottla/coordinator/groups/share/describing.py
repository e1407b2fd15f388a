"""The response of ShareGroupDescribe."""

from __future__ import annotations

from ottla.assignors.assignor import Assignment, by_topic
from ottla.coordinator.groups.context import GroupContext
from ottla.coordinator.groups.share.group import ShareGroup
from ottla.coordinator.groups.share.heartbeats import SIMPLE_ASSIGNOR
from ottla.model import ErrorCode
from ottla.wire.messages import share_group_describe as wire


def describe_share(context: GroupContext, group_id: str) -> wire.DescribedGroup:
    """Describes a share group. A group of another type counts as not found."""
    group = context.groups.get(group_id)
    if not isinstance(group, ShareGroup):
        return wire.DescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"Group {group_id} not found."
            if group is None
            else f"Group {group_id} is not a share group.",
            group_id=group_id,
        )
    return wire.DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=SIMPLE_ASSIGNOR,
        members=[
            wire.Member(
                member_id=member.id,
                rack_id=member.rack_id,
                member_epoch=member.epoch,
                client_id=member.client_id,
                client_host=member.client_host,
                subscribed_topic_names=sorted(member.topics),
                assignment=_assignment(context, member.assigned),
            )
            for member in group.members.values()
        ],
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
